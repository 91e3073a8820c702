import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { sequence, tallyOf, toolName } from '../session/session-view.ts';

/**
 * Detects untrusted content, then private data, then an outgoing message: the pattern of data theft through
 * an agent.
 */
export const misusePrivateThenExternal: Rule = {
  id: 'misuse.private-then-external',
  title: 'Untrusted content, private data, then an outgoing message',
  dimension: 'ASI02',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'The session reads untrusted content, another call then reads private data, and a third sends something out: everything that is needed to steal data through an agent.',
  weight: 0.2,
  acts: ['external_comm'],
  circumstantial: true,
  precedented: true,
  falsePositives: 'Research that ends with an emailed report.',
  recommendation: {
    title: 'Remove one of the three steps',
    text: 'Use a policy to forbid sending in sessions that read untrusted content, or to allow only known recipients.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'external_comm');
    const reads = sequence(view, 'read_private', 'external_comm');
    if (found === undefined || reads === undefined || tallyOf(view, 'look').count < 2) return undefined;
    const [read, sent] = found;
    return matched(
      [read, reads[0], sent],
      1,
      `${toolName(view, reads[0].tool)} read private data in a session with untrusted content, and ${toolName(view, sent.tool)} sent something out.`,
      tallyOf(view, 'external_comm').count + 2,
    );
  },
  fires: [
    { name: 'page, mailbox, message', steps: ['fetch_url', 'search_emails', 'send_message'] },
    { name: 'issue, file, comment', steps: ['get_issue', 'read_file', 'add_issue_comment'] },
  ],
  quiet: [
    { name: 'private data alone, then out', steps: ['get_user_profile', 'send_message'] },
    { name: 'out comes first', steps: ['fetch_url', 'send_message', 'search_emails'] },
  ],
};
