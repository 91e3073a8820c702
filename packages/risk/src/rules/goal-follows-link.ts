import { mostOf } from '../baseline/expectation.ts';
import type { Rule } from '../rule.ts';
import { matched } from '../rule-match.ts';
import { lastOf, sequence, tallyOf, toolName } from '../session/session-view.ts';
import { nounClassNames } from '../taxonomy/nouns.ts';
import { verbClasses } from '../taxonomy/verbs.ts';

const web = nounClassNames.indexOf('web') + 1;
const opening: readonly number[] = [verbClasses.indexOf('read') + 1, verbClasses.indexOf('drive') + 1];

function opens({ verb, noun }: { readonly verb: number; readonly noun: number }): boolean {
  return noun === web && opening.includes(verb);
}

/** Detects web addresses that untrusted content may have named. */
export const goalFollowsLink: Rule = {
  id: 'goal.follows-link',
  title: 'More web addresses opened than in any past session of this workflow',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'After untrusted content the agent opens more web addresses than in any similar past session. An address from hostile text can leak data in its query and can return more hostile text.',
  weight: 0.73,
  acts: ['opened_web'],
  habitual: false,
  falsePositives: 'Research that needs more pages than before; a browsing tool that was replaced.',
  recommendation: {
    title: 'Check which address was opened and where it came from',
    text: 'Look for the address in the text that was read before. Allow only the sites that the task needs.',
  },
  detect(view) {
    const { expected } = view;
    if (expected === undefined) return undefined;
    const found = sequence(view, 'ingest_untrusted', 'opened_web');
    if (found === undefined) return undefined;
    const tools = view.tools.filter(([, tool]) => opens(tool));
    const count = tools.reduce((sum, [, tool]) => sum + tool.count, 0);
    const usual = mostOf(expected, (past) =>
      tools.reduce((sum, [hash]) => sum + (past.tools.get(hash) ?? 0), 0),
    );
    if (count <= usual) return undefined;
    const last = lastOf(tallyOf(view, 'opened_web'));
    return matched(
      [found[0], last],
      expected.confidence,
      `Web addresses were opened ${count} times, most recently by ${toolName(view, last.tool)}, compared to at most ${usual} times in similar past sessions.`,
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
