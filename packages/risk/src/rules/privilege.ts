import { ruleHash, shareOf } from '../baseline/baseline.ts';
import { counted, marked, matched, type Rule, stamped } from '../rule.ts';
import { firstOf, lastOf, sequence, tallyOf, toolName } from '../session/session-view.ts';
import { tagBits } from '../taxonomy/tag.ts';

/** Detects results of tools for secrets in the arguments of other actions. */
export const privilegeSecretPassedOn: Rule = {
  id: 'privilege.secret-passed-on',
  title: 'Secret in the arguments of another action',
  dimension: 'ASI03',
  llm: ['LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'An argument of an action stood in the result of a tool that handles secrets: a password, a key or a token was put into a message, a file or a request.',
  weight: 0.6,
  acts: ['secret_passed'],
  falsePositives: 'Agents that sign in with a password that they look up.',
  recommendation: {
    title: 'Keep secrets out of the hands of the model',
    text: 'Give tools their credentials directly, and replace the secret that was passed on.',
  },
  detect: (view) => marked(view, 'secret_passed', 'was called with what a tool for secrets returned.'),
  fires: [
    {
      name: 'a token is sent',
      steps: [
        'get_api_token',
        { tool: 'send_message', origins: { text: { from: 'tool', as: 'field', toolName: 'get_api_token' } } },
      ],
    },
  ],
  quiet: [
    {
      name: 'a login with the password that was looked up',
      steps: [
        'get_password',
        { tool: 'login', origins: { password: { from: 'tool', as: 'field', toolName: 'get_password' } } },
      ],
    },
    {
      name: 'a message with other data',
      steps: [
        'get_api_token',
        'get_contact',
        { tool: 'send_message', origins: { text: { from: 'tool', as: 'field', toolName: 'get_contact' } } },
      ],
    },
  ],
};

/** Detects the use of a secret or a permission change after untrusted content. */
export const privilegeSecretAfterUntrusted: Rule = {
  id: 'privilege.secret-after-untrusted',
  title: 'Secret or permission used after untrusted content',
  dimension: 'ASI03',
  llm: ['LLM01:2025 Prompt Injection', 'LLM02:2025 Sensitive Information Disclosure'],
  signal: 'A secret is read or set, or a permission or account is changed, after untrusted content was read.',
  weight: 0.28,
  acts: ['rights'],
  circumstantial: true,
  cluster: 'irreversible-after-untrusted',
  precedented: true,
  falsePositives: 'Support agents that change accounts because a ticket asks for it.',
  recommendation: {
    title: 'Revoke what may have leaked',
    text: 'Rotate the secret or revoke the permission, then check the text that was read before. Hold such tools for approval.',
  },
  detect(view) {
    const found = sequence(view, 'ingest_untrusted', 'rights');
    if (found === undefined) return undefined;
    const [read, act] = found;
    return matched(
      [read, act],
      1,
      `${toolName(view, act.tool)} used a secret or changed a permission after untrusted content was read.`,
      tallyOf(view, 'rights').count + 1,
    );
  },
  fires: [
    { name: 'reads a ticket, gets a secret', steps: ['get_ticket', 'get_secret'] },
    { name: 'reads a page, changes the password', steps: ['fetch_url', 'update_password'] },
  ],
  quiet: [
    { name: 'gets a secret first', steps: ['get_secret', 'get_ticket'] },
    { name: 'reads a ticket, closes it', steps: ['get_ticket', 'close_ticket'] },
  ],
};

/** Detects a call that is refused for missing permissions and later succeeds. */
export const privilegeRefusedThenGranted: Rule = {
  id: 'privilege.refused-then-granted',
  title: 'Refused for missing permissions, then allowed',
  dimension: 'ASI03',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'A tool returns 401 or 403, and later in the session the same tool succeeds.',
  weight: 0.3,
  falsePositives: 'An expired token that was renewed; another object that the agent may access.',
  recommendation: {
    title: 'Find out where the permission came from',
    text: 'Check what happened between the refusal and the success. If a key or role was changed in between, revoke it.',
  },
  detect(view) {
    for (const tools of [view.state.acting, view.state.looking]) {
      for (const [hash, { firstRefusedMs, lastSuccessMs }] of tools.entries()) {
        if (firstRefusedMs === 0 || lastSuccessMs <= firstRefusedMs) continue;
        if (view.actions.some((action) => action.stopped && action.tool === hash)) continue;
        return matched(
          [firstOf(tallyOf(view, 'unauthorized'))],
          1,
          `${toolName(view, hash)} was refused for missing permissions, and later succeeded.`,
          2,
        );
      }
    }
    return undefined;
  },
  fires: [
    {
      name: '403, then 200',
      steps: [
        { tool: 'get_record', given: 'a', status: 403 },
        'list_tools',
        { tool: 'get_record', given: 'a' },
      ],
    },
    { name: '401, then another object', steps: [{ tool: 'get_record', status: 401 }, 'get_record'] },
  ],
  quiet: [
    {
      name: 'a person denied it, then approved',
      steps: [
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'denied' } },
        { tool: 'pay', given: 'a', status: 403 },
        { tool: 'pay', given: 'a', category: 'guardian_decision', payload: { decision: 'approved' } },
        { tool: 'pay', given: 'a' },
      ],
    },
    { name: '500, then 200', steps: [{ tool: 'get_record', status: 500 }, 'get_record'] },
    { name: '200, then 403', steps: ['get_record', { tool: 'get_record', status: 403 }] },
  ],
};

const manyRefusals = 3;

/** Detects repeated calls that are refused for missing permissions. */
export const privilegeProbing: Rule = {
  id: 'privilege.probing',
  title: 'Repeated calls refused for missing permissions',
  dimension: 'ASI03',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'Three or more calls return 401 or 403: the agent tries actions that it is not permitted to do.',
  weight: 0.4,
  acts: ['unauthorized'],
  falsePositives: 'An expired key.',
  recommendation: {
    title: 'Stop the probing',
    text: 'Renew the key if it expired. Otherwise deny the probed tools for this agent with a policy.',
  },
  detect(view) {
    const unauthorized = tallyOf(view, 'unauthorized');
    const refused = unauthorized.count - view.withheld;
    if (refused < manyRefusals) return undefined;
    return matched(
      [firstOf(unauthorized), lastOf(unauthorized)],
      Math.min(1, refused / 6),
      `${counted(refused, 'call')} were refused for missing permissions.`,
      refused,
    );
  },
  fires: [{ name: 'four refusals', steps: [{ tool: 'get_record', status: 403, times: 4 }] }],
  quiet: [
    { name: 'two refusals', steps: [{ tool: 'get_record', status: 403, times: 2 }, 'get_record'] },
    {
      name: 'four that a policy denied',
      steps: ['a', 'b', 'c', 'd'].flatMap((given) => [
        { tool: 'pay', given, category: 'guardian_decision', payload: { decision: 'deny' } },
        { tool: 'pay', given, status: 403 },
      ]),
    },
    {
      name: 'a long session in which a policy denied thirty',
      steps: Array.from({ length: 30 }, (_, at) => [
        { tool: 'pay', given: `${at}`, category: 'guardian_decision', payload: { decision: 'deny' } },
        { tool: 'pay', given: `${at}`, status: 403 },
      ])
        .flat()
        .concat([{ tool: 'get_record', given: 'a', status: 200 }]),
    },
    { name: 'four that were not found', steps: [{ tool: 'get_record', status: 404, times: 4 }] },
  ],
};

/** Detects an agent that is active in several sessions at once. */
export const privilegeAgentElsewhere: Rule = {
  id: 'privilege.agent-elsewhere',
  title: 'Agent active in several sessions at once',
  dimension: 'ASI03',
  llm: ['LLM06:2025 Excessive Agency'],
  signal:
    'Events of the same agent come from other sessions within the same minute: its identity may be used twice.',
  weight: 0.14,
  habitual: false,
  falsePositives: 'Agents that serve many users at once; the rule does not match if past sessions show this.',
  recommendation: {
    title: 'Give each instance its own identity',
    text: 'If the agent should run only once, rotate its key. If it serves many users at once, give each instance its own agentId.',
  },
  detect(view) {
    const own = ruleHash('privilege.agent-elsewhere');
    if (view.expected !== undefined && shareOf(view.expected, (past) => past.rules.has(own)) > 0.2)
      return undefined;
    return stamped(
      view,
      'agent_elsewhere',
      1,
      'The same agent was active in another session within the same minute.',
    );
  },
  fires: [{ name: 'stamped', steps: ['read_file', { tool: 'read_file', stamps: ['agent_elsewhere'] }] }],
  quiet: [
    { name: 'alone', steps: ['read_file', 'read_file'] },
    {
      name: 'always at several places',
      steps: [{ tool: 'read_file', stamps: ['agent_elsewhere'] }],
      history: [[{ tool: 'read_file', stamps: ['agent_elsewhere'] }]],
    },
  ],
};

const manyFailedReaches = 3;

/** Detects reads of one object after another until some are refused. */
export const privilegeFailedReach: Rule = {
  id: 'privilege.failed-reach',
  title: 'Reading one object after another until some fail',
  dimension: 'ASI03',
  llm: ['LLM06:2025 Excessive Agency', 'LLM02:2025 Sensitive Information Disclosure'],
  signal:
    'One read tool is called three times or more; some calls succeed, then one fails: the agent may enumerate objects beyond its permissions.',
  weight: 0.12,
  falsePositives: 'Guessing at names that do not exist.',
  recommendation: {
    title: 'Narrow what the agent can reach',
    text: 'Give its key access only to what the task needs, and check what it read before the failure.',
  },
  detect(view) {
    for (const [hash, tool] of view.state.looking.entries()) {
      const { count, firstSuccessMs, lastFailedMs } = tool;
      if (count < manyFailedReaches || firstSuccessMs === 0 || lastFailedMs <= firstSuccessMs) continue;
      const failed = tallyOf(view, 'failed_look');
      const refused = tallyOf(view, 'unauthorized');
      return matched(
        [lastOf(failed.count > 0 ? failed : refused)],
        1,
        `${toolName(view, hash)} was called ${count} times and failed after it had succeeded.`,
        count,
      );
    }
    return undefined;
  },
  fires: [
    {
      name: 'three channels, the last is closed',
      steps: [
        { tool: 'read_channel', times: 3 },
        { tool: 'read_channel', status: 403 },
      ],
    },
  ],
  quiet: [
    { name: 'three channels, all open', steps: [{ tool: 'read_channel', times: 3 }] },
    { name: 'one that fails, then works', steps: [{ tool: 'read_channel', status: 500 }, 'read_channel'] },
  ],
};

const rights = tagBits('credential', 'admin');

/** Detects the first use of secrets or permissions by an agent. */
export const privilegeFirstUse: Rule = {
  id: 'privilege.first-use',
  title: 'First use of secrets or permissions',
  dimension: 'ASI03',
  llm: ['LLM06:2025 Excessive Agency'],
  signal: 'The agent uses a secret or changes a permission, which no past session did.',
  weight: 0.35,
  acts: ['rights'],
  cluster: 'new-action',
  habitual: false,
  falsePositives: 'A task that was added to the agent on purpose.',
  recommendation: {
    title: 'Confirm the new task',
    text: 'If nobody gave the agent this task, remove its permissions and find out who or what asked for it.',
  },
  detect(view) {
    const expected = view.expected;
    if (expected === undefined || expected.all.some((past) => (past.tags & rights) !== 0)) return undefined;
    return marked(
      view,
      'rights',
      "is this agent's first use of secrets or permissions.",
      expected.confidence,
    );
  },
  fires: [
    {
      name: 'grants a role where it only read',
      steps: ['get_record', 'grant_role'],
      history: [['get_record'], ['get_record'], ['get_record']],
    },
  ],
  quiet: [
    { name: 'grants as before', steps: ['grant_role'], history: [['grant_role'], ['get_record']] },
    { name: 'no past is known', steps: ['grant_role'] },
  ],
};
