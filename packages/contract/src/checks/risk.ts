import { type EndpointName, endpointNames, endpoints } from '@actlog/protocol';
import { contract } from '@actlog/protocol/schemas';
import { type Check, check, lastCheck } from '../check.ts';
import {
  type ApiResponse,
  describeResponse,
  isObject,
  objects,
  succeeded,
  values,
} from '../http/api-response.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { expectStatus } from './expectations.ts';

const dimensionCount = 10;

/** Contents of a risk result besides the dimensions. */
type Explanation = 'factors' | 'recommendations';

/** Names that factors and recommendations may have. */
const namesOf: Readonly<Record<Explanation, RegExp>> = {
  factors: /factor|reason|explan|evidence|contrib|finding|signal|driver|cause|why|rationale|basis/i,
  recommendations: /recommend|advice|advis|mitigat|remed|suggest|action|guidance|step|to_?do|measure|fix/i,
};

/** Words in the names of numbers that are not a score. */
const noScoreWords = new Set(
  (
    'count counts events seen sessions number version revision time date timestamp at ms seconds duration elapsed ' +
    'ttl age limit max maximum min minimum scale size length weight page n id'
  ).split(' '),
);

/** `true` if a name such as `eventCount` or `event_count` stands for a number that is not a score. */
function isNoScore(name: string): boolean {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_-]+/);
  return words.some((word) => noScoreWords.has(word));
}

/** Names of members that label or grade a record and explain nothing. */
const label =
  /^(_?id|.*_?id|.*Id|name|title|label|key|code|slug|level|band|grade|status|state|severity|category|kind|type|object|version|.*Version|.*Hash|.*_at|.*At)$/;

/** Names of totals next to the dimensions. */
const total = /overall|total|sum|aggregate|average|mean/i;

/** The ten dimensions of a risk result. */
interface Dimensions {
  /** The list or the object that has them. */
  readonly container: unknown;
  readonly entries: readonly unknown[];
  /** Names of the entries in an object. */
  readonly names: ReadonlySet<string>;
}

function isAlike(entries: readonly unknown[]): boolean {
  return entries.every((entry) => typeof entry === 'number') || entries.every(isObject);
}

/** `true` if no two entries are the same, as a whole or by a label that all of them have. Numbers may be. */
function areDifferent(entries: readonly unknown[]): boolean {
  const isEachOther = (parts: readonly unknown[]) =>
    parts.includes(undefined) || new Set(parts.map((part) => JSON.stringify(part))).size === parts.length;
  if (!entries.every(isObject)) return true;
  const labels = ['id', 'key', 'code', 'name', 'title', 'dimension'];
  return isEachOther(entries) && labels.every((label) => isEachOther(entries.map((entry) => entry[label])));
}

/** Returns the list, or the object, with ten different entries of a kind; undefined if there is none. */
export function dimensionsOf(risk: unknown): Dimensions | undefined {
  for (const value of values(risk)) {
    if (Array.isArray(value) && value.length === dimensionCount && isAlike(value) && areDifferent(value))
      return { container: value, entries: value, names: new Set() };
  }
  for (const object of objects(risk)) {
    const members = Object.entries(object).filter(([name]) => !total.test(name));
    for (const isOfKind of [isObject, (value: unknown) => typeof value === 'number']) {
      const entries = members.filter(([name, value]) => isOfKind(value) && !isNoScore(name));
      if (entries.length === dimensionCount)
        return {
          container: object,
          entries: entries.map(([, value]) => value),
          names: new Set(entries.map(([name]) => name)),
        };
    }
  }
  return undefined;
}

/** Returns the numbers of the dimensions. */
function scoresOf({ entries }: Dimensions): number[] {
  return entries.flatMap((entry) => [...values(entry).filter((value) => typeof value === 'number')]);
}

/** Yields the members of a risk result outside of its dimensions and of other lists. */
function* membersBeside(value: unknown, dimensions: Dimensions | undefined): Generator<[string, unknown]> {
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    if (value === dimensions?.container && dimensions.names.has(name)) continue;
    yield [name, member];
    yield* membersBeside(member, dimensions);
  }
}

/** `true` if a risk result has a number that can be the score of the session, besides the scores of its dimensions. */
export function hasScoreOfItsOwn(risk: unknown): boolean {
  return membersBeside(risk, dimensionsOf(risk)).some(
    ([name, member]) => typeof member === 'number' && !isNoScore(name),
  );
}

function isExplaining(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : typeof value === 'object' && value !== null;
}

/** `true` if a value with any name can be an explanation: a list, or a sentence of three words or more. */
function canExplain(value: unknown): boolean {
  return Array.isArray(value) || (typeof value === 'string' && value.trim().split(/\s+/).length >= 3);
}

/** Returns the names of members that could be an explanation with an unknown name. */
function unnamed(risk: unknown, dimensions: Dimensions | undefined): string[] {
  const inDimensions = (dimensions?.entries ?? []).flatMap((entry) =>
    isObject(entry) ? Object.entries(entry) : [],
  );
  const members = [...membersBeside(risk, dimensions), ...inDimensions];
  const found = members
    .filter(([name, value]) => canExplain(value) && !label.test(name))
    .filter(([, value]) => value !== dimensions?.container)
    .map(([name]) => name);
  return [...new Set(found)];
}

/**
 * Returns the fault of a risk result without factors or without recommendations; undefined if it has a member with a
 * usual name for them, or one more that could be them.
 */
export function explanationFault(risk: unknown, what: Explanation): string | undefined {
  const all = objects(risk).flatMap((object) => Object.entries(object));
  const isNamed = (one: Explanation) =>
    all.some(([name, value]) => namesOf[one].test(name) && isExplaining(value));
  if (isNamed(what)) return undefined;
  const other: Explanation = what === 'factors' ? 'recommendations' : 'factors';
  const names = unnamed(risk, dimensionsOf(risk)).filter((name) => !namesOf[other].test(name));
  const needed = isNamed(other) ? 1 : 2;
  if (names.length >= needed) return undefined;
  const rest = names.length > 0 ? ` (besides ${names.join(', ')})` : '';
  return `the risk has no member that could be its ${what}${rest}`;
}

/** Sends a successful request to an endpoint. */
async function successOf(run: Run, name: EndpointName): Promise<ApiResponse> {
  const { probe, records, traffic, guardian } = run;
  switch (name) {
    case 'events.create':
      return traffic.post(traffic.event());
    case 'sessions.get':
    case 'sessions.risk':
    case 'sessions.export':
      return probe.call(name, { id: (await traffic.settled()).main.id });
    case 'agents.sessions':
      return probe.call(name, { id: (await traffic.settled()).main.agentId });
    case 'agents.create':
    case 'notificationChannels.create':
      return (await records.made(name === 'agents.create' ? 'agents' : 'notificationChannels')).response;
    case 'policies.create':
      return (await records.made('policies')).response;
    case 'agents.get':
    case 'agents.update':
      return probe.call(name, {
        id: (await records.identified('agents')).id,
        ...(name === 'agents.update' && { body: { owner: 'contract' } }),
      });
    case 'policies.get':
    case 'policies.update':
    case 'policies.archive':
      return probe.call(name, {
        id: (await records.identified('policies', name === 'policies.archive' ? 5 : 1)).id,
        ...(name === 'policies.update' && { body: { message: 'contract' } }),
      });
    case 'policies.check':
      return guardian.check(traffic.probeAgentId);
    case 'guardian.pendingActions.decide':
      return guardian.decide((await guardian.identified()).id);
    case 'guardian.pendingActions.list':
      await guardian.held();
      return probe.call(name);
    default:
      await traffic.settled();
      return probe.call(name);
  }
}

/** Id prefixes of records that the service creates, with a function that returns such an id. */
const prefixes: readonly (readonly [
  what: string,
  prefix: string,
  id: (run: Run) => Promise<string | undefined>,
])[] = [
  ['an agent', 'agt_', async ({ records }) => (await records.identified('agents')).id],
  ['a policy', 'pol_', async ({ records }) => (await records.identified('policies')).id],
  ['a webhook', 'nch_', async ({ records }) => (await records.made('notificationChannels')).id],
  ['a held action', 'pac_', async ({ guardian }) => (await guardian.identified()).id],
];

/** Bodies with an unknown field. */
const withUnknown = [
  'agents.create',
  'policies.create',
  'policies.check',
  'notificationChannels.create',
] as const;

/** Checks of response shapes. */
export const shapeChecks: readonly Check[] = [
  ...endpointNames.map((name) =>
    check('PRF-01', `${endpoints[name].method} ${endpoints[name].path}`, async (run) => {
      const response = await successOf(run, name);
      expectStatus(response, endpoints[name].success);
      const { error } = contract[name].response.sent.safeParse(response.json);
      const [issue] = error?.issues ?? [];
      if (issue)
        fail(
          `${response.method} ${response.path}: ${issue.path.join('.') || 'the response'}: ${issue.message}`,
        );
    }),
  ),
  ...prefixes.map(([what, prefix, id]) =>
    check('PRF-02', what, async (run) => {
      const found = await id(run);
      if (!new RegExp(`^${prefix}[0-9a-f]{12}7[0-9a-f]{19}$`).test(found ?? '')) fail(`the id is ${found}`);
    }),
  ),
  ...withUnknown.map((name) =>
    check('PRF-03', `${endpoints[name].method} ${endpoints[name].path}`, async (run) => {
      const values = { name: run.newName('unknown'), agentId: run.newName('agent'), sessionId: run.prefix };
      const body = run.records.body(name, values);
      const response = await run.probe.call(name, { body: { ...(isObject(body) && body), unheardOf: 1 } });
      expectStatus(response, 400);
    }),
  ),
  check('PRF-03', 'POST /v1/events', async ({ traffic }) => {
    expectStatus(await traffic.post({ ...traffic.event(), unheardOf: 1 }), 400);
  }),
  lastCheck('PRF-25', 'every response of the run', async ({ probe }) => {
    const without = probe.responses.find(({ headers }) => !headers.get('x-request-id'));
    if (without) fail(`${describeResponse(without)}, without x-request-id`);
  }),
];

/** Returns the risk of the run's main session; skips if it cannot be read. */
async function riskOf(run: Run): Promise<unknown> {
  const { main } = await run.traffic.settled();
  const response = await run.probe.call('sessions.risk', { id: main.id });
  if (!succeeded(response) || response.json === undefined)
    skip('the risk of a session cannot be read (END-04)');
  return response.json;
}

/** Checks of a session's risk. Only its content is fixed, not the names of its fields. */
export const riskChecks: readonly Check[] = [
  check('RSK-01', 'a score of the session', async (run) => {
    if (!hasScoreOfItsOwn(await riskOf(run)))
      fail('the risk has no number, besides those of its dimensions, that could be the score of the session');
  }),
  check('RSK-02', 'ten of a kind', async (run) => {
    if (dimensionsOf(await riskOf(run)) === undefined)
      fail('the risk contains no list or object of ten different entries that could be its dimensions');
  }),
  check('RSK-02', 'scores of the dimensions', async (run) => {
    const dimensions = dimensionsOf(await riskOf(run)) ?? skip('the dimensions cannot be identified');
    if (scoresOf(dimensions).length === 0) fail('none of the ten dimensions has a number as its score');
  }),
  ...(['factors', 'recommendations'] as const).map((what) =>
    check('RSK-03', what, async (run) => {
      const fault = explanationFault(await riskOf(run), what);
      if (fault !== undefined) fail(fault);
    }),
  ),
  check('RSK-04', 'names of dimensions', async (run) => {
    const texts = [...values(await riskOf(run))].filter((value) => typeof value === 'string');
    const found = new Set(texts.filter((text) => /^(ASI|LLM|T|AGT?)\d{1,2}$/i.test(text)));
    return found.size > 0 ? [...found].sort().join(', ') : 'no ids of an OWASP list';
  }),
];
