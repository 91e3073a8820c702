import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { stepBefore, toolName } from '../session/session-view.ts';
import { tagBits } from '../taxonomy/tag.ts';

const UNTRUSTED = tagBits('ingest_untrusted');

/** Detects an action directly after untrusted content. */
export const goalActionAfterUntrusted: Rule = {
  id: 'goal.action-after-untrusted',
  title: 'Action directly after untrusted content',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'A tool that changes something is called directly after one that returns text of third parties. Instructions hidden in such text are usually carried out immediately.',
  weight: 0.44,
  precedented: true,
  falsePositives:
    'Benign sessions also read first and then act. Counts little by itself, and less if the agent always works this way.',
  recommendation: {
    title: 'Check what was read before the action',
    text: 'Open the text that the agent read directly before, and check if it contains instructions. Hold such actions for approval with a policy.',
  },
  detect(view) {
    const found = view.acts.filter((step) => ((stepBefore(view, step)?.bits ?? 0) & UNTRUSTED) !== 0);
    const first = found[0];
    if (first === undefined) return undefined;
    const read = stepBefore(view, first) as typeof first;
    return matched(
      [read, ...found],
      1,
      `${toolName(view, first.tool)} was called directly after ${toolName(view, read.tool)} read untrusted content.`,
    );
  },
  fires: [
    { name: 'a mail is read, then one is sent', steps: ['search_emails', 'send_email'] },
    { name: 'a web page is read, then a file is deleted', steps: ['browser.open_page', 'fs__delete_file'] },
  ],
  quiet: [
    {
      name: 'what came just before is not kept of a long session',
      steps: [
        { tool: 'get_current_time', times: 17 },
        'fetch_url',
        { tool: 'get_current_time', times: 100 },
        'send_email',
        { tool: 'get_current_time', times: 7 },
      ],
    },
    { name: 'nothing was read', steps: ['send_email'] },
    { name: 'only the clock was read', steps: ['get_current_time', 'send_email'] },
    { name: 'nothing was done', steps: ['search_emails', 'read_file'] },
  ],
};
