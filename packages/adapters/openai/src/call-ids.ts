import { randomUUID } from 'node:crypto';
import { processWide } from '@actlog/recorder/adapter';

const callIds = processWide('@actlog/openai/call-ids', () => new WeakMap<object, string>());

/**
 * Returns the id of a call by its arguments object, by which inner hooks recognize the call. Undefined if the arguments
 * are not an object and no id is known.
 *
 * @param known - the model's id of the call; without one, an id is generated
 */
export function callIdOf(args: unknown, known?: string): string | undefined {
  if (typeof args !== 'object' || args === null) return known;
  const id = known ?? callIds().get(args) ?? randomUUID();
  callIds().set(args, id);
  return id;
}
