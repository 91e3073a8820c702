import { mostOf } from '../baseline/baseline.ts';
import { counted, marked, matched, type Rule } from '../rule.ts';
import { differentPair } from '../session/bottom-k.ts';
import { firstOf, lastOf, sequence, tallyOf, toolName } from '../session/session-view.ts';
import { nounClassNames } from '../taxonomy/nouns.ts';
import { verbClasses } from '../taxonomy/verbs.ts';

/** Detects an action on another kind of object than was read. */
export const goalUnreadObject: Rule = {
  id: 'goal.unread-object',
  title: 'Action on another kind of object than was read',
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'After untrusted content the agent acts on another kind of object than the content came from: it reads a calendar and deletes a record. The reason for such an action may be in the text.',
  weight: 0.42,
  acts: ['reach'],
  circumstantial: true,
  precedented: true,
  falsePositives: 'Tasks that transfer content: read a web page, send it by email.',
  recommendation: {
    title: 'Check that the user asked for both kinds of object',
    text: 'If the task did not name the object of the action, treat the session as compromised: undo the action and remove the text that led to it.',
  },
  detect(view) {
    const { readKinds, reachedKinds } = view.state;
    const found = differentPair(readKinds, reachedKinds);
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} acts on another kind of object than ${toolName(view, read.tool)} read.`,
    );
  },
  fires: [
    { name: 'reads the calendar, deletes a file', steps: ['get_calendar_events', 'delete_file'] },
    { name: 'reads mail, then files, then sends mail', steps: ['search_emails', 'list_files', 'send_email'] },
  ],
  quiet: [
    { name: 'reads mail, answers mail', steps: ['search_emails', 'send_email'] },
    { name: 'no text of others came in', steps: ['get_current_time', 'send_email'] },
  ],
};

/** Detects actions of the user's whose destination came from a tool's text. */
export const goalRedirected: Rule = {
  id: 'goal.redirected',
  title: "Action whose destination a tool's text named",
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    "The recipient, the account or the address of an action stood in a tool's text and not in what the user said, while other arguments came from the user: their payment goes to another account.",
  weight: 0.45,
  acts: ['redirected'],
  habitual: false,
  falsePositives: 'The user gives the amount or the date, and a document gives the recipient.',
  recommendation: {
    title: 'Confirm the destination',
    text: 'Compare the destination with what the user asked for. Hold such actions with a policy on argument origins.',
  },
  detect(view) {
    const says =
      'went to a destination from the text of an earlier result, with other arguments of the user.';
    return marked(view, 'redirected', says, tallyOf(view, 'redirected').count > 1 ? 1 : 0.85);
  },
  fires: [
    {
      name: "the user's amount goes to an account in a mail",
      steps: [
        'search_emails',
        {
          tool: 'send_money',
          origins: {
            recipient: { from: 'tool', as: 'text', toolName: 'search_emails' },
            amount: { from: 'user' },
          },
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'the user named the account',
      steps: [
        'search_emails',
        {
          tool: 'send_money',
          origins: {
            recipient: { from: 'user' },
            amount: { from: 'tool', as: 'text', toolName: 'search_emails' },
          },
        },
      ],
    },
  ],
};

/** Strength where the recorder may not know the user's messages, so that an argument of the user looks foreign. */
const unknownUser = 0.6;

/** Detects actions whose arguments came out of a tool's text, and none from the user. */
export const goalForeignArguments: Rule = {
  id: 'goal.foreign-arguments',
  title: "Action that a tool's text aimed",
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection', 'LLM06:2025 Excessive Agency'],
  signal:
    'An action is aimed by a value that stood in the running text of an earlier result, such as a web page or a mail, and none of its arguments stood in what the user said. Injected instructions bring the recipient, the amount or the file with them.',
  weight: 0.85,
  acts: ['aimed'],
  habitual: false,
  falsePositives:
    'The user asks the agent to do what a text says: "pay the attached bill", "do the tasks in the mail".',
  recommendation: {
    title: 'Hold actions that a text aimed',
    text: 'Read the text that the argument came from. Hold such actions for approval with a policy on argument origins; those that the user aimed still run.',
  },
  detect(view) {
    const aimed = tallyOf(view, 'aimed');
    if (aimed.count === 0) return undefined;
    const first = firstOf(aimed);
    const last = lastOf(aimed);
    const isUserKnown = tallyOf(view, 'knows_user').count > 0 || tallyOf(view, 'user_named').count > 0;
    return matched(
      aimed.count > 1 ? [first, last] : [first],
      (aimed.count > 1 ? 1 : 0.85) * (isUserKnown ? 1 : unknownUser),
      `${toolName(view, first.tool)} was called with arguments from the text of an earlier result and none from the user (${counted(aimed.count, 'such action')}).`,
      aimed.count,
    );
  },
  fires: [
    {
      name: 'the recipient stood in a web page',
      steps: [
        'fetch_url',
        {
          tool: 'send_money',
          origins: {
            recipient: { from: 'tool', as: 'text', toolName: 'fetch_url' },
            amount: { from: 'model' },
          },
        },
      ],
    },
    {
      name: 'in the middle of a long session',
      steps: [
        { tool: 'read_file', times: 30 },
        { tool: 'delete_file', origins: { file_id: { from: 'tool', as: 'text', toolName: 'read_file' } } },
        { tool: 'read_file', times: 30 },
      ],
    },
  ],
  quiet: [
    {
      name: 'the user named the recipient',
      steps: [
        'fetch_url',
        {
          tool: 'send_money',
          origins: {
            recipient: { from: 'user' },
            reference: { from: 'tool', as: 'text', toolName: 'fetch_url' },
          },
        },
      ],
    },
    {
      name: 'the recipient was a field of a contact',
      steps: [
        'search_contacts',
        {
          tool: 'send_email',
          origins: { recipient: { from: 'tool', as: 'field', toolName: 'search_contacts' } },
        },
      ],
    },
    {
      name: 'only the body was copied from a text',
      steps: [
        'fetch_url',
        { tool: 'send_email', origins: { body: { from: 'tool', as: 'text', toolName: 'fetch_url' } } },
      ],
    },
    {
      name: 'it only reads',
      steps: [
        'search_emails',
        { tool: 'fetch_url', origins: { url: { from: 'tool', as: 'text', toolName: 'search_emails' } } },
      ],
    },
    { name: 'origins were not reported', steps: ['fetch_url', 'send_money'] },
  ],
};

/** Detects actions that the user and a tool's text aimed together. */
export const goalPartlyForeign: Rule = {
  id: 'goal.partly-foreign',
  title: "Action that the user and a tool's text aimed",
  dimension: 'ASI01',
  llm: ['LLM01:2025 Prompt Injection'],
  signal:
    "One argument of an action stood in what the user said, another one that it is aimed at in a tool's text: a known recipient with another account number, a known user with another group.",
  weight: 0.2,
  acts: ['partly'],
  falsePositives: 'The user names one part and leaves the other to a document. Counts little by itself.',
  recommendation: {
    title: 'Check the part that the user did not name',
    text: 'Look at the argument that came from a text, and at that text.',
  },
  detect: (view) =>
    marked(
      view,
      'partly',
      'was called with one argument from the user and another from the text of an earlier result.',
    ),
  fires: [
    {
      name: 'an amount from a mail',
      steps: [
        'search_emails',
        {
          tool: 'pay_invoice',
          origins: {
            name: { from: 'user' },
            amount: { from: 'tool', as: 'text', toolName: 'search_emails' },
          },
        },
      ],
    },
  ],
  quiet: [
    {
      name: 'an account number from a record',
      steps: [
        'get_contact',
        {
          tool: 'pay_invoice',
          origins: { name: { from: 'user' }, iban: { from: 'tool', as: 'field', toolName: 'get_contact' } },
        },
      ],
    },
    {
      name: 'only the content is from a mail',
      steps: [
        'search_emails',
        {
          tool: 'send_message',
          origins: {
            recipient: { from: 'user' },
            body: { from: 'tool', as: 'text', toolName: 'search_emails' },
          },
        },
      ],
    },
  ],
};

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
