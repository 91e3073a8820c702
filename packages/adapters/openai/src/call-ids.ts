import { randomUUID } from 'node:crypto';
import { processWide } from '@actlog/recorder/adapter';

const callIds = processWide('@actlog/openai/call-ids', () => new WeakMap<object, string>());

/**
 * The id of a call, by the object that its arguments are: hooks further in know the call by it. Undefined for arguments
 * that are no object, where no id is known.
 *
 * @param known - the model's id of the call; where there is none, the call is given one
 */
export function callIdOf(args: unknown, known?: string): string | undefined {
  if (typeof args !== 'object' || args === null) return known;
  const id = known ?? callIds().get(args) ?? randomUUID();
  callIds().set(args, id);
  return id;
}
