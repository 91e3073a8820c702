import { createEventId } from '../../events/event-id.ts';

/** Maximum length of the readable part, in characters. */
const maxName = 40;

/**
 * Creates the id of a session that has none. It starts with the name of the agent if there is one, such as
 * `support-agent-0199c3e2-…`, so that people recognize it in a list.
 *
 * @param agentName - name that the application gave the agent or the workflow
 */
export function newSessionId(agentName?: string): string {
  const words = agentName?.normalize('NFKC').match(/[\p{L}\p{N}_]+/gu) ?? [];
  const readable = words.join('-').slice(0, maxName);
  const id = createEventId(Date.now());
  return readable.isWellFormed() && readable !== '' ? `${readable}-${id}` : id;
}
