import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { precedes } from '../session/mark.ts';
import { lastOf, sequence, tallyOf, toolName } from '../session/session-view.ts';

/** Detects an action between reads. */
export const goalDetour: Rule = {
  id: 'goal.detour',
  title: 'Detour: an action between reads',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection'],
  signal:
    'After untrusted content the agent acts and then returns to reading. An agent with an injected task usually performs it first and then returns to its own task.',
  weight: 0.21,
  acts: ['reach'],
  circumstantial: true,
  precedented: true,
  falsePositives: 'Processing several items: read one, act on it, read the next.',
  recommendation: {
    title: 'Check that the action served the task',
    text: 'Compare the action with what the user asked for. Start with the text that was read before it.',
  },
  detect(view) {
    const [acts, looks] = [tallyOf(view, 'reach'), tallyOf(view, 'look')];
    const found = sequence(view, 'ingest_untrusted', 'reach');
    if (found === undefined || !precedes(acts, looks)) return undefined;
    const [read, act] = found;
    return matched([read, act, lastOf(looks)], 1, `${toolName(view, act.tool)} was called between reads.`);
  },
  fires: [
    { name: 'reads, sends, reads on', steps: ['read_inbox', 'send_message', 'read_document'] },
    {
      name: 'reads, acts twice, looks again',
      steps: ['get_webpage', 'create_event', 'delete_file', 'list_files'],
    },
  ],
  quiet: [
    { name: 'acts at the end', steps: ['read_inbox', 'read_document', 'send_message'] },
    { name: 'acts first', steps: ['create_file', 'read_inbox'] },
  ],
};
