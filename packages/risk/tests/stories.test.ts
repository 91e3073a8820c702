import { expect, test } from 'vitest';
import { emptyBaseline, learn } from '../src/baseline/baseline.ts';
import { type ExampleStep, exampleEvents } from '../src/rule-example.ts';
import { score } from '../src/score.ts';
import { observe } from '../src/session/observe.ts';
import { emptySession } from '../src/session/session-state.ts';

const text = (toolName: string) => ({ from: 'tool', as: 'text', toolName }) as const;
const user = { from: 'user' } as const;
const model = { from: 'model' } as const;

function play(steps: readonly ExampleStep[], session = 0) {
  const state = emptySession();
  for (const { event } of exampleEvents(steps, session)) {
    const { payload } = event;
    observe(state, payload?.origins ? { ...event, payload: { ...payload, userText: true } } : event);
  }
  return state;
}

const scoreOf = (steps: readonly ExampleStep[]) => score(play(steps));
const rulesOf = (steps: readonly ExampleStep[]) =>
  scoreOf(steps).dimensions.flatMap(({ factors }) => factors.map(({ ruleId }) => ruleId));

const coding: ExampleStep[] = [
  'Read',
  'Grep',
  { tool: 'Edit', origins: { file_path: text('Grep'), old_string: text('Read'), new_string: model } },
  { tool: 'Bash', origins: { command: model } },
  { tool: 'Bash', origins: { command: model }, status: 500 },
  { tool: 'Edit', origins: { file_path: text('Bash'), new_string: text('Read') } },
  'Bash',
];

test('honest work of a coding agent is low, whatever files and results its edits name', () => {
  expect(scoreOf([...coding, ...coding, ...coding]).level).toBe('low');
});

test.each<[string, ExampleStep[]]>([
  [
    'a command that was copied from a web page',
    ['WebFetch', { tool: 'Bash', origins: { command: text('WebFetch') } }],
  ],
  [
    'a host from a file in the repository',
    [{ tool: 'exec_command', origins: { cmd: model, 'cmd.host': text('Read') } }],
  ],
  [
    'data that is sent to a host from an issue',
    [
      'mcp__github__get_issue',
      { tool: 'bash', origins: { command: model, 'command.host': text('mcp__github__get_issue') } },
    ],
  ],
  [
    'a build file that an issue names and fills',
    [
      'mcp__github__get_issue',
      {
        tool: 'Write',
        origins: {
          file_path: text('mcp__github__get_issue'),
          'content.host': text('mcp__github__get_issue'),
        },
      },
    ],
  ],
  [
    'an issue in a repository that another issue names',
    [
      'mcp__github__get_issue',
      { tool: 'mcp__github__create_issue', origins: { repo: text('mcp__github__get_issue'), body: model } },
    ],
  ],
  [
    'a mail to an address from a mail',
    ['search_emails', { tool: 'send_email', origins: { to: text('search_emails'), body: model } }],
  ],
])('%s among honest coding is high', (_, attack) => {
  expect(scoreOf([...coding, ...attack, ...coding]).level).toMatch(/high|critical/);
});

test('a host from a setting of the workspace is none of an injection, and one from an issue is', () => {
  const command = (toolName: string) => ({
    tool: 'Bash',
    origins: { command: model, 'command.host': { from: 'tool', as: 'field', toolName } as const },
  });
  expect(rulesOf(['Read', command('Read')])).toEqual([]);
  expect(rulesOf(['get_issue', command('get_issue')])).toContain('execution.foreign-host');
});

test.each(['WebFetch', 'mcp__fetch__fetch', 'firecrawl_scrape', 'browser_navigate'])(
  'a command that was copied from a page that %s returned is high',
  (page) => {
    expect(scoreOf([page, { tool: 'Bash', origins: { command: text(page) } }]).level).toMatch(
      /high|critical/,
    );
  },
);

test('a tool whose name reads but whose arguments send counts as outgoing', () => {
  const steps: ExampleStep[] = [
    'read_inbox',
    { tool: 'get_report_status', origins: { to: text('read_inbox'), body: text('read_inbox') } },
  ];
  expect(rulesOf(steps)).toEqual(
    expect.arrayContaining(['goal.foreign-arguments', 'misuse.private-content-sent']),
  );
  const filter: ExampleStep[] = [
    'read_inbox',
    { tool: 'search_emails', origins: { to: text('read_inbox'), subject: text('read_inbox') } },
  ];
  expect(scoreOf(filter).score).toBe(0);
});

test('an address that carries private results to a host from a text is high', () => {
  const carried = { 'url.host': text('read_inbox'), 'url.query': text('get_customer') };
  const steps: ExampleStep[] = [
    'read_inbox',
    'get_customer',
    { tool: 'fetch_url', origins: { url: model, ...carried } },
  ];
  expect(scoreOf(steps).level).toMatch(/high|critical/);
  expect(scoreOf(['read_inbox', { tool: 'fetch_url', origins: { url: text('read_inbox') } }]).score).toBe(0);
});

test('an address that carries what a command printed is high, and the page of a package is not', () => {
  const host = { 'url.host': text('Read') };
  const printed = { ...host, 'url.query': text('Bash') };
  const opened: ExampleStep[] = ['Read', 'Bash', { tool: 'browser_navigate', origins: printed }];
  expect(scoreOf(opened).level).toMatch(/high|critical/);
  const named = { 'url.host': text('Bash'), 'url.segment': text('Read') };
  expect(rulesOf(['Bash', 'Read', { tool: 'WebFetch', origins: named }])).toEqual([]);
  const customer = { ...host, 'url.segment': text('get_customer') };
  expect(rulesOf(['get_customer', { tool: 'WebFetch', origins: customer }])).toContain(
    'misuse.leaked-by-link',
  );
});

test.each([404, 429, 500])('a read that failed with %i has read nothing', (status) => {
  expect(scoreOf([{ tool: 'get_order', status }, 'send_email']).score).toBe(0);
  expect(scoreOf(['get_order', 'send_email']).score).toBeGreaterThan(0);
});

test('a usual tool does not excuse a destination from a text', () => {
  const baseline = emptyBaseline();
  for (let session = 1; session <= 5; session++) {
    const past = play(['search_emails', { tool: 'send_email', origins: { to: user } }], session);
    learn(baseline, past, score(past, { baseline: emptyBaseline() }));
  }
  expect(baseline.sessions.size).toBe(5);
  const attack = play([
    'search_emails',
    { tool: 'send_email', origins: { to: text('search_emails'), body: text('search_emails') } },
    'search_emails',
  ]);
  const factors = score(attack, { baseline }).factors;
  const aimed = factors.find(({ ruleId }) => ruleId === 'goal.foreign-arguments');
  expect(aimed?.delta).toBeGreaterThan(20);
  expect(score(attack, { baseline }).level).toMatch(/medium|high|critical/);
});

test('a session with an aimed action is learned only if a person confirms it, at any score', () => {
  const aimed = play([{ tool: 'create_event', origins: { participants: text('read_inbox'), title: user } }]);
  const low = { ...score(aimed), level: 'low' } as const;
  const baseline = emptyBaseline();
  expect(learn(baseline, aimed, low)).toBe(false);
  expect(learn(baseline, aimed, low, { isConfirmed: true })).toBe(true);
});
