import { metaKey } from '@actlog/recorder/adapter';
import type { ResponseChanges } from '../calls/open-call.ts';
import { withValue } from '../messages/edit-text.ts';

/**
 * Returns a response with the outcomes for a client that recorded the call, or without those that are meant for the
 * gateway: the very line if there are neither.
 */
export function withChanges(line: Buffer, changes: ResponseChanges | undefined): Buffer {
  if (!changes || (changes.outcomes.length === 0 && !changes.removesOutcomes)) return line;
  const outcomes = changes.removesOutcomes ? undefined : changes.outcomes;
  return Buffer.from(withValue(line.toString(), ['result', '_meta', metaKey], outcomes));
}
