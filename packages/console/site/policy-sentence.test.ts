import { expect, test } from 'vitest';
import {
  type DescribedPolicy,
  formatClauses,
  lengthText,
  parseClauses,
  parseLength,
  policySentence,
} from './policy-sentence.ts';

function sentence(policy: DescribedPolicy): string {
  return policySentence(policy)
    .map(({ text }) => text)
    .join('');
}

const approval = { timeoutSeconds: 900, onTimeout: 'deny' as const };

test.each<[string, DescribedPolicy]>([
  ['When any agent calls any tool → deny', { effect: 'deny' }],
  ['When any agent calls any tool → only log, would deny', { effect: 'deny', mode: 'log_only' }],
  [
    'When billing calls refund* with amount > 500 → ask a person',
    {
      effect: 'require_approval',
      match: { agents: ['billing'], tools: ['refund*'] },
      condition: 'args.amount > 500',
    },
  ],
  [
    'When a or b on langchain in production calls c, d or e with to.country is not DE and note contains 1 → allow',
    {
      effect: 'allow',
      match: {
        agents: ['a', 'b'],
        tools: ['c', 'd', 'e'],
        frameworks: ['langchain'],
        environments: ['production'],
      },
      condition: 'args.to.country != "DE" && args.note.contains("1")',
    },
  ],
  [
    'When any agent calls 1, 2, 3, 4 or 3 others if session.called( "read_*") → deny',
    {
      effect: 'deny',
      match: { tools: ['1', '2', '3', '4', '5', '6', '7'] },
      condition: 'session.called(\n  "read_*")',
    },
  ],
  [
    'When any agent calls pay more than 20 times in 1 hour by one agent on mon, fri from 09:00 to 24:00 (UTC) → deny',
    {
      effect: 'deny',
      match: { tools: ['pay'], agents: null as unknown as string[] },
      rate: { max: 20, windowSeconds: 3600, per: 'agent' },
      schedule: { timeZone: 'UTC', days: ['mon', 'fri'], from: '09:00' },
    },
  ],
  [
    'When any agent calls any tool → ask 2 people of finance or on-call, not the requester, allow after 15 minutes',
    {
      effect: 'require_approval',
      approval: {
        ...approval,
        onTimeout: 'allow',
        requiredApprovers: 2,
        approverGroups: ['finance', 'on-call'],
        notRequester: true,
      },
    },
  ],
  ['When any agent calls any tool → decide', {}],
])('reads as "%s"', (text, policy) => {
  expect(sentence(policy)).toBe(text);
});

test.each([
  'args.amount > 500',
  'args.amount >= 1000.0 && args.currency == "EUR"',
  'args.id == 1917043659912705297',
  'args.zip == "12345"',
  'args.force != true',
  'args.text == "true"',
  'args["to-do"]["in"] == "x"',
  'args.path.startsWith("/etc/") && args.path.endsWith(".conf")',
  'args.text.contains("say \\"no\\" && \\n")',
  'args.text == ""',
])('shows %s as comparisons, and writes the same again', (condition) => {
  const clauses = parseClauses(condition);
  expect(clauses).toBeDefined();
  expect(formatClauses(clauses ?? [])).toBe(condition);
});

test.each([
  'args.amount>500',
  ' args.amount > 500',
  'args.amount > 500 && ',
  'args.amount > 500 || true',
  "args.name == 'x'",
  'has(args.amount) && args.amount > 1.0',
  '!(args.amount > 500)',
  'args.amount > 05e3',
  'args.a > args.b',
  'args["amount"] > 5',
  'args["a.b"] > 5',
  'session.called("x")',
])('leaves %j as it is', (condition) => {
  expect(parseClauses(condition)).toBeUndefined();
});

test('writes texts in quotes, and numbers and booleans as they are', () => {
  expect(
    formatClauses([
      { path: 'a.b-c', operator: '>', value: '5' },
      { path: 'd', operator: '==', value: '"5"' },
      { path: 'e', operator: 'contains', value: '5' },
      { path: 'f', operator: '==', value: 'a "quote' },
    ]),
  ).toBe('args.a["b-c"] > 5 && args.d == "5" && args.e.contains("5") && args.f == "a \\"quote"');
  expect(parseClauses('')).toEqual([]);
});

test.each([
  [3600, '1 hour'],
  [7200, '2 hours'],
  [90, '90 seconds'],
  [60, '1 minute'],
  [86_400, '1 day'],
  [1, '1 second'],
  [604_799, '604799 seconds'],
])('writes %i seconds as %s, and reads them again', (seconds, text) => {
  expect(lengthText(seconds)).toBe(text);
  expect(parseLength(text)).toBe(seconds);
});

test.each([
  ['15 min', 900],
  [' 1.5 h ', 5400],
  ['2D', 172_800],
  ['1 week', 604_800],
  ['90s', 90],
  ['15', 0],
  ['', 0],
  ['soon', 0],
  ['-5 min', 0],
])('reads %j as %i seconds', (text, seconds) => {
  expect(parseLength(text)).toBe(seconds);
});
