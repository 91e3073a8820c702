import { mostOf } from '../baseline/expectation.ts';
import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { toolName } from '../session-view.ts';
import { NOUN_CLASS_NAMES } from '../taxonomy/nouns.ts';
import { VERB_CLASSES } from '../taxonomy/verbs.ts';

const WEB = NOUN_CLASS_NAMES.indexOf('web') + 1;
const OPENING: readonly number[] = [VERB_CLASSES.indexOf('read') + 1, VERB_CLASSES.indexOf('drive') + 1];

function opens({ verb, noun }: { readonly verb: number; readonly noun: number }): boolean {
  return noun === WEB && OPENING.includes(verb);
}

/** A web address that foreign text led to. */
export const goalFollowsLink: Rule = {
  id: 'goal.follows-link',
  title: 'More web addresses opened than this workflow ever did',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'After text of unknown authors the agent opens web addresses, more of them than in any past session like this one. An address that hostile text names may carry data out in itself, and brings in more of such text.',
  weight: 0.57,
  habitual: false,
  falsePositives: 'Research that takes more pages than before; a browsing tool that was replaced by another.',
  recommendation: {
    title: 'See which address was opened, and who named it',
    text: 'Look for the address in the text that was read before. Allow the agent to open only the sites that its task needs.',
  },
  detect(view) {
    const { expected } = view;
    if (expected === undefined) return undefined;
    const opened = view.steps.filter((step) => step.afterUntrusted && opens(step));
    const last = opened.at(-1);
    if (last === undefined) return undefined;
    const tools = view.tools.filter(([, tool]) => opens(tool));
    const count = tools.reduce((sum, [, tool]) => sum + tool.count, 0);
    const usual = mostOf(expected, (past) =>
      tools.reduce((sum, [hash]) => sum + (past.tools.get(hash) ?? 0), 0),
    );
    if (count <= usual) return undefined;
    return matched(
      opened.slice(-5),
      expected.confidence,
      `Web addresses were opened ${count} times, at last by ${toolName(view, last.tool)}; in past sessions like this one at most ${usual} times.`,
      count - usual,
    );
  },
  fires: [
    {
      name: 'a page that a message names',
      steps: ['read_inbox', 'fetch_url'],
      history: [['read_inbox'], ['read_inbox', 'send_message'], ['read_inbox']],
    },
    {
      name: 'a second page, in a browser',
      steps: ['read_inbox', 'browser_navigate', 'browser_navigate'],
      history: [
        ['read_inbox', 'browser_navigate'],
        ['read_inbox', 'browser_navigate'],
      ],
    },
  ],
  quiet: [
    {
      name: 'as many pages as before',
      steps: ['read_inbox', 'fetch_url'],
      history: [['read_inbox', 'fetch_url'], ['read_inbox']],
    },
    { name: 'the page comes first', steps: ['fetch_url', 'read_inbox'], history: [['read_inbox']] },
    { name: 'a web search', steps: ['read_inbox', 'search_web'], history: [['read_inbox']] },
    { name: 'no past is known', steps: ['read_inbox', 'fetch_url'] },
  ],
};
