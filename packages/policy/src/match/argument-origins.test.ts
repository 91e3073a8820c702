import type { ArgumentOrigins } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { checkedAction } from './checked-action.ts';
import { parseCondition } from './condition.ts';

const eventId = '01939f8a-2f6e-7c3e-8a52-5a0b6f1d2e3c';

const origins: ArgumentOrigins = {
  recipient: { from: 'tool', as: 'text', toolName: 'read_file', eventId },
  amount: { from: 'user' },
  'address.city': { from: 'tool', as: 'field', toolName: 'crm' },
};

function holds(condition: string, given: ArgumentOrigins | null = origins, shown = {}): boolean {
  const action = { toolName: 'pay', argumentsHash: 'sha256:aa', arguments: shown };
  return parseCondition(condition).holds(
    checkedAction({ agentId: 'bot', action: { ...action, ...(given && { origins: given }) } }),
  );
}

test.each([
  ['origins.recipient.from == "tool"', true],
  ['origins.recipient.as == "text"', true],
  [`origins.recipient.toolName == "read_file" && origins.recipient.eventId == "${eventId}"`, true],
  ['origins.amount.from == "tool"', false],
  ['origins["address.city"].as == "field"', true],
  ['origins.any("tool")', true],
  ['origins.any("tool", "text")', true],
  ['origins.any("user", "text")', false],
  ['origins.any("model")', false],
  ['"recipient" in origins && !("iban" in origins)', true],
  ['has(origins.iban) && origins.iban.from == "tool"', false],
  ['origins.exists(path, path.startsWith("address.") && origins[path].from == "tool")', true],
  ['origins.all(path, origins[path].from in ["user", "system"])', false],
  ['size(origins) == 3', true],
])('evaluates %s as %s', (condition, expected) => {
  expect(holds(condition)).toBe(expected);
});

test('a field that an origin does not have is empty', () => {
  const condition =
    'origins.amount.as == "" && origins.amount.toolName == "" && origins.amount.eventId == "" && !origins.any("user", "text")';
  expect(holds(condition)).toBe(true);
});

test.each([
  ['origins.any("model")', false],
  ['size(origins) == 0', true],
])('a check with nothing to report evaluates %s as %s', (condition, expected) => {
  expect(holds(condition, {})).toBe(expected);
});

test('throws for an argument without an origin, like for an argument that was not shown', () => {
  expect(() => holds('origins.iban.from == "tool"')).toThrow('No such key: iban');
});

test.each(['origins.recipient.from == "tool"', '!origins.any("tool", "text")', 'size(origins) > 0'])(
  'throws for a check without origins: %s',
  (condition) => {
    const evaluate = () => holds(`action.toolName == "pay" && ${condition}`, null);
    expect(evaluate).toThrow('the check has no argument origins: turn on `origins` in the recorder');
  },
);

test('evaluates a condition that does not read the origins of a check without any', () => {
  expect(holds('action.toolName == "pay" || origins.any("tool")', null)).toBe(true);
});

test.each([
  ['args.any("tool")', 'any() is only available on origins, as in origins.any("tool", "text") (line 1'],
  ['args.list.exists(x, x.any("tool"))', 'any() is only available on origins'],
  ['origins.any()', "found no matching overload for 'map.any()'"],
  ['origins.any(5)', "found no matching overload for 'map.any(int)'"],
  ['origins.recipient == "tool"', 'no such overload: ArgumentOrigin == string'],
  ['origins.recipient.source == "tool"', 'No such key: source'],
  ['origins.any("tols")', '"from" of an origin is never "tols"; use one of "user", "system", "tool", '],
  ['origins.any("tool", "prose")', '"as" of an origin is never "prose"; use one of "field", "text", ""'],
  ['true &&\n  origins.recipient.from == "web"', 'is never "web"; use one of "user", "system", "tool", '],
  ['"prose" != origins["a.b"].as', '"as" of an origin is never "prose"'],
  ['origins.recipient.from in ["user", "me"]', '"from" of an origin is never "me"'],
  ['origins.all(path, origins[path].from == "me")', '"from" of an origin is never "me"'],
])('rejects %s when it is written', (condition, problem) => {
  expect(() => parseCondition(condition)).toThrow(problem);
});

test('accepts comparisons of an origin with any other text', () => {
  expect(
    holds('origins.recipient.from == args.from && origins.recipient.as != ""', origins, { from: 'tool' }),
  ).toBe(true);
});

test('the variable of a comprehension can be named origins', () => {
  const shown = { flights: [{ route: { from: 'JFK' } }] };
  expect(holds('args.flights.exists(origins, origins.route.from == "JFK")', null, shown)).toBe(true);
  const hidden = 'args.flights.exists(origins, origins.any("tool"))';
  expect(() => holds(hidden, origins, shown)).toThrow("found no matching overload for 'map.any(string)'");
  const empty = 'args.flights.exists(origins, origins.any("tool"))';
  expect(() => holds(empty, origins, { flights: [{}] })).toThrow('any() is a function of origins');
});

const text = { from: 'tool', as: 'text', toolName: 'read_inbox' } as const;

test.each<[string, ArgumentOrigins, boolean]>([
  ['a recipient from a text', { to: text, body: { from: 'model' } }, true],
  ['a recipient of the user', { to: { from: 'user' }, body: text }, false],
  ['a recipient from a text and an amount of the user', { to: text, amount: { from: 'user' } }, false],
  ['a source that is no longer known', { recipient: { from: 'unknown' } }, true],
  ['content from a text', { body: text, subject: text }, false],
  ['content whose source is no longer known', { body: { from: 'unknown' } }, false],
  ['a recipient that is a field', { to: { from: 'tool', as: 'field' } }, false],
  ['a file from a text', { file_path: text, old_string: text, new_string: { from: 'model' } }, false],
  ['a line number from a text', { line_number: text }, false],
  ['an address with a part from a text', { url: { from: 'model' }, 'url.segment': text }, false],
  ['a command that was copied from a text', { command: text }, true],
  ['a command that the model wrote', { command: { from: 'model' } }, false],
  ['a command with a host from a text', { command: { from: 'model' }, 'command.host': text }, true],
])('origins.aimedByText() for %s', (_, given, expected) => {
  expect(holds('origins.aimedByText()', given)).toBe(expected);
});

test('aimedByText() is refused on anything but origins', () => {
  expect(() => parseCondition('args.aimedByText()')).toThrow(/origins\.aimedByText\(\)/);
});
