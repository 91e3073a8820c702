import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { sequence, tallyOf, toolName } from '../session/session-view.ts';

/** Detects an action after untrusted content. */
export const goalActionAfterUntrusted: Rule = {
  id: 'goal.action-after-untrusted',
  title: 'Action after untrusted content',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'A tool that changes something beyond local work is called after one that returned text of third parties. Instructions hidden in such text are carried out by such calls.',
  weight: 0.41,
  acts: ['reach'],
  circumstantial: true,
  precedented: true,
  falsePositives:
    'Benign sessions also read first and then act. Counts little by itself, and less if the agent always works this way.',
  recommendation: {
    title: 'Check what was read before the action',
    text: 'Open the text that the agent read directly before, and check if it contains instructions. Hold such actions for approval with a policy.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'reach');
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} was called after ${toolName(view, read.tool)} read untrusted content.`,
      tallyOf(view, 'reach').count + 1,
    );
  },
  fires: [
    { name: 'a mail is read, then one is sent', steps: ['search_emails', 'send_email'] },
    { name: 'a web page is read, then a file is deleted', steps: ['browser.open_page', 'fs__delete_file'] },
  ],
  quiet: [
    { name: 'nothing was read', steps: ['send_email'] },
    { name: 'only the clock was read', steps: ['get_current_time', 'send_email'] },
    { name: 'nothing was done', steps: ['search_emails', 'read_file'] },
  ],
};
