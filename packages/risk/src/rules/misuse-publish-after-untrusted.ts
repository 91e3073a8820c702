import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session-view.ts';
import { VERB_CLASSES } from '../taxonomy/verbs.ts';

const OPENING = [VERB_CLASSES.indexOf('publish') + 1, VERB_CLASSES.indexOf('share') + 1];

/** Something opened to others after text of unknown authors. */
export const misusePublishAfterUntrusted: Rule = {
  id: 'misuse.publish-after-untrusted',
  title: 'Published, shared or invited after text of unknown authors',
  dimension: 'ASI02',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'Content is published or shared, or somebody is let in, after text came in that somebody else may have written.',
  weight: 0.14,
  precedented: true,
  falsePositives: 'Publishing and inviting as the task itself.',
  recommendation: {
    title: 'Check who can see it now',
    text: 'Look at what was opened to whom, and take it back if the user did not ask for it.',
  },
  detect(view) {
    const found = view.acts.filter((step) => step.afterUntrusted && OPENING.includes(step.verb));
    const first = found[0];
    if (first === undefined) return undefined;
    return matched(
      found,
      1,
      `${toolName(view, first.tool)} opened something to others after text of unknown authors had come in.`,
    );
  },
  fires: [
    { name: 'reads a page, invites a person', steps: ['fetch_url', 'invite_user'] },
    { name: 'reads mail, shares a folder', steps: ['gmail.search', 'drive_share_folder'] },
  ],
  quiet: [
    { name: 'reads a page, saves it', steps: ['fetch_url', 'save_file'] },
    { name: 'invites, nothing read', steps: ['invite_user'] },
  ],
};
