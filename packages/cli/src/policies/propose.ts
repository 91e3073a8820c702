import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Actlog, StoredEvent } from '@actlog/client';
import { isToolCall } from '@actlog/client/records';
import {
  type BacktestResult,
  backtestPolicies,
  listDecisions,
  type PolicyDecision,
} from '@actlog/client/server';
import type { PolicyCreate } from '@actlog/protocol';
import { type Command, InvalidArgumentError } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { ExitCodeError, UsageError } from '../errors/usage-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseTime } from '../options/duration.ts';
import { addLimitOption, type LimitFlags } from '../options/numbers.ts';
import { formatOf, jsonText } from '../output/format.ts';
import { note, ProgressLine, print, write } from '../output/print.ts';
import { writeFile } from '../output/print-list.ts';
import { printable, terminalWidth } from '../output/printable.ts';
import { Table } from '../output/table.ts';
import { changeColumns } from './trials.ts';

interface Flags extends ClientFlags, LimitFlags {
  readonly agent: string;
  readonly since?: Date;
  readonly out?: string;
  readonly enforce?: true;
  readonly force?: true;
}

/** Below these numbers, the period probably misses tools that the agent needs. */
const enough = { calls: 50, sessions: 3 };

/** Sessions that began before the period and are looked through for calls in it. */
const maxEarlierSessions = 1000;

/** Adds `policies propose`. */
export function addPoliciesPropose(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'propose',
    description:
      'write policies that allow an agent the tools that it called and deny all others, and try them on the past',
    examples: [
      [
        'actlog policies propose --agent billing --out policies/billing.yaml',
        'as log_only: it decides nothing',
      ],
      ['actlog policies propose --agent billing --since 7d', 'print the file instead'],
      [
        'actlog policies propose --agent billing --out policies/billing.yaml --force --enforce',
        'once its backtest is as expected',
      ],
    ],
  })
    .optionsGroup('Proposal:')
    .requiredOption('--agent <id>', 'agent whose calls are read', parseAgent)
    .option('--since <time>', 'calls from then on: 24h, 7d, or an ISO 8601 time (30d)', parseTime)
    .option('--out <file>', 'YAML file to write; standard output by default', parseFile)
    .option('--force', 'overwrite the file')
    .option('--enforce', 'set the mode of all policies to enforce');
  addLimitOption(command, 'decisions to read, and of events', 10_000).action(async (flags: Flags) => {
    const { out, force, since = parseTime('30d') } = flags;
    if (out !== undefined && !force && existsSync(out)) {
      throw new UsageError(
        `--out: the file "${out}" exists. Add --force to overwrite it, or name another file.`,
      );
    }
    await propose(await connect(flags), { ...flags, since });
  });
}

function parseAgent(id: string): string {
  if (!id.includes('*')) return id;
  throw new InvalidArgumentError(
    'It must not contain "*", which policies read as a pattern for the ids of several agents. Name one agent.',
  );
}

function parseFile(file: string): string {
  if (/\.ya?ml$/.test(file)) return file;
  throw new InvalidArgumentError('It must end in .yaml or .yml, because the file has comments.');
}

type Request = Flags & { readonly since: Date };

async function propose(client: Actlog, flags: Request): Promise<void> {
  const { agent, since, out, enforce } = flags;
  const progress = new ProgressLine();
  const observed = await readCalls(client, flags, progress).finally(() => progress.clear());
  if (observed.calls.length === 0) {
    throw new UsageError(
      `--agent: the service has no calls of the agent "${agent}" since ${since.toISOString()}. See the ids of agents with \`actlog agents list\`, or name an earlier time with --since.`,
    );
  }
  const warnings = warningsOf(observed);
  const proposal = proposalOf(agent, observed.calls);
  const text = fileText(proposal, { ...observed, agent, since, warnings, isEnforced: enforce === true });
  if (out !== undefined) {
    writeFile(out, text);
    note(`Wrote ${count(proposal.policies.length, 'policy', 'policies')} to ${out}: ${await testFile(out)}.`);
  }
  const backtest = await backtestPolicies(
    client,
    { policies: proposal.policies.map(({ policy }) => policy), since },
    { onProgress: ({ decisions }) => progress.show(`${number(decisions)} decisions`) },
  ).finally(() => progress.clear());
  const result = resultOf(backtest, agent);
  if (formatOf(flags) !== 'table') {
    const { permissions, refused, policies } = proposal;
    const record = {
      agentId: agent,
      since: since.toISOString(),
      ...totalsOf(observed.calls),
      file: out ?? null,
      tools: permissions.map(({ sessions, ...permission }) => ({ ...permission, sessions: sessions.size })),
      refused,
      policies: policies.map(({ policy }) => ({ ...policy, mode: enforce ? 'enforce' : 'log_only' })),
      backtest: result,
      warnings,
      ...(out === undefined && { text }),
    };
    return print(jsonText(record, formatOf(flags) === 'json' ? 2 : undefined));
  }
  if (out === undefined) await write(text);
  // Beside the file on standard output, the report would be part of it.
  const line = out === undefined ? async (shown: string) => note(shown) : print;
  for (const shown of reportLines(result, warnings)) await line(shown);
}

/** Runs the tests of a written file, as `actlog policies test` does. */
async function testFile(file: string): Promise<string> {
  const { readPolicyFiles } = await import('./files/read-policy-files.ts');
  const { runPolicyTests } = await import('./trial/run-policy-tests.ts');
  const { passed, failed } = runPolicyTests(await readPolicyFiles([file]));
  if (failed === 0) return `its ${count(passed, 'test passes', 'tests pass')}`;
  throw new ExitCodeError(
    `${file}: ${failed} of its tests fail. See which with \`actlog policies test ${file}\`.`,
    exitCodes.failed,
  );
}

/** Effects that permit a call again, by what became of it; none if it must not become a permission. */
const effects = {
  allowed: 'allow',
  'approved by a person': 'require_approval',
  'allowed because nobody decided in time': 'require_approval',
  'observed, and would have been held': 'require_approval',
  'denied by a policy': undefined,
  'denied by a person': undefined,
  'denied because nobody decided in time': undefined,
  'answered where the agent runs': undefined,
  'waiting for a person': undefined,
  'made inside another agent': undefined,
  failed: undefined,
} as const;

type Outcome = keyof typeof effects;
type Effect = 'allow' | 'require_approval';

/** Framework and environment that a check named. */
interface Place {
  readonly framework?: string;
  readonly environment?: string;
}

/** A call of the agent. */
interface Call {
  readonly toolName: string;
  readonly sessionId: string | null;
  outcome: Outcome;
  /** Undefined for a call that was recorded, but not checked. */
  readonly place?: Place;
}

interface Observed {
  readonly calls: readonly Call[];
  /** `true` if there are calls in the period that were not read. */
  readonly isCut: boolean;
}

/** Reads the calls of the agent: its decisions, and its events, which tell how calls ended. */
async function readCalls(client: Actlog, flags: Request, progress: ProgressLine): Promise<Observed> {
  const { agent: agentId, since, limit } = flags;
  const calls: Call[] = [];
  const byAction = new Map<string, Call>();
  /** Checked calls that name no action, by session and tool. */
  const unnamed = new Map<string, Call[]>();
  let isCut = false;
  let read = 0;
  for await (const decision of listDecisions(client, { agentId, since })) {
    if (read === limit) {
      isCut = true;
      break;
    }
    read += 1;
    if (read % 200 === 0) progress.show(`${number(read)} decisions`);
    const { actionId, toolName, sessionId, dryRun } = decision;
    // A dry run without an action is a question, as of `policies check`, and not a call.
    if (dryRun && actionId === null) continue;
    const call: Call = { toolName, sessionId, outcome: outcomeOf(decision), place: placeOf(decision) };
    const key = keyOf(actionId ?? sessionId ?? '', toolName);
    if (actionId === null) {
      const others = unnamed.get(key);
      if (others) others.push(call);
      else unnamed.set(key, [call]);
    } else {
      const other = byAction.get(key);
      // Of several checks of a call, one that stopped it counts.
      if (other && effects[call.outcome] === undefined) other.outcome = call.outcome;
      if (other) continue;
      byAction.set(key, call);
    }
    calls.push(call);
  }
  const addEvents = (events: readonly StoredEvent[], inner: ReadonlySet<unknown>) => {
    for (const event of events) {
      if (!isToolCall(event)) continue;
      const { toolName, responseStatus } = event.payload;
      const sessionId = event.sessionId ?? null;
      const known =
        byAction.get(keyOf(String(event.eventId).toLowerCase(), toolName)) ??
        unnamed.get(keyOf(sessionId ?? '', toolName))?.pop();
      const call = known ?? { toolName, sessionId, outcome: 'allowed' as Outcome };
      if (!known) calls.push(call);
      if (effects[call.outcome] === undefined) continue;
      if (responseStatus >= 400) call.outcome = 'failed';
      else if (inner.has(event.eventId)) call.outcome = 'made inside another agent';
    }
  };
  let events = 0;
  let earlier = 0;
  for await (const session of client.sessions.list({ agentId, limit: 200 })) {
    if (Date.parse(session.startedAt ?? '') < since.getTime()) earlier += 1;
    if (earlier > maxEarlierSessions) break;
    if (Date.parse(session.lastEventAt ?? '') < since.getTime()) continue;
    const own: StoredEvent[] = [];
    const inner = new Set<unknown>();
    for await (const event of client.sessions.events(session.id, { limit: 200 })) {
      if (event.agentId !== agentId || Date.parse(event.receivedAt ?? '') < since.getTime()) continue;
      const { category, payload } = event;
      const parents: unknown = category === 'subagent_call' ? payload?.parentAgentIds : undefined;
      if (Array.isArray(parents) && parents.length > 0) inner.add(payload?.eventId);
      if (!isToolCall(event)) continue;
      if (events === limit) {
        isCut = true;
        break;
      }
      own.push(event);
      events += 1;
      if (events % 200 === 0) progress.show(`${number(events)} events`);
    }
    addEvents(own, inner);
    if (isCut && events === limit) break;
  }
  return { calls, isCut };
}

function keyOf(id: string, toolName: string): string {
  return JSON.stringify([id.toLowerCase(), toolName]);
}

function outcomeOf(decision: PolicyDecision): Outcome {
  const { decision: effect, heldStatus, dryRun, parentAgentIds, pendingActionId, grantId } = decision;
  if (effect === 'deny') {
    if (heldStatus === 'denied') return 'denied by a person';
    if (heldStatus === 'withdrawn') return 'answered where the agent runs';
    return heldStatus === 'expired' ? 'denied because nobody decided in time' : 'denied by a policy';
  }
  if (effect === 'require_approval' && !dryRun) return 'waiting for a person';
  // An allowance of an inner agent must name the agents around it, too, and would permit those the tool.
  if (parentAgentIds.length > 0) return 'made inside another agent';
  if (effect === 'require_approval') return 'observed, and would have been held';
  if (heldStatus === 'expired') return 'allowed because nobody decided in time';
  return pendingActionId !== null || grantId !== null ? 'approved by a person' : 'allowed';
}

function placeOf({ framework, environment }: PolicyDecision): Place {
  return { ...(framework !== null && { framework }), ...(environment !== null && { environment }) };
}

function totalsOf(calls: readonly Call[]) {
  const sessions = new Set(calls.flatMap(({ sessionId }) => sessionId ?? [])).size;
  return { calls: calls.length, checked: calls.filter(({ place }) => place).length, sessions };
}

function warningsOf({ calls, isCut }: Observed): string[] {
  const { calls: total, checked, sessions } = totalsOf(calls);
  const warnings: string[] = [];
  if (calls.every(({ outcome }) => effects[outcome] === undefined)) {
    warnings.push('No call went through, so the file denies the agent every tool.');
  }
  if (total < enough.calls || sessions < enough.sessions) {
    warnings.push(
      `The period has few calls: ${count(total, 'call')} in ${count(sessions, 'session')}. With less than ${enough.calls} calls or ${enough.sessions} sessions, tools that the agent needs are probably missing: name an earlier time with --since.`,
    );
  }
  if (isCut) {
    warnings.push(
      'The period was cut off: older calls were not read, and their tools may be missing. Raise --limit, or use --limit all.',
    );
  }
  if (checked < total) {
    warnings.push(
      `Policies checked ${number(checked)} of the ${count(total, 'call')}, and the backtest has only those. To check all, start the agent with ACTLOG_GUARD=observe.`,
    );
  }
  return warnings;
}

/** A tool that the agent may call in a place. */
interface Permission {
  readonly toolName: string;
  readonly effect: Effect;
  readonly place: Place;
  readonly calls: number;
  readonly sessions: ReadonlySet<string | null>;
  /** Other calls of the tool, which are not permissions, by what became of them. */
  readonly others: Readonly<Record<string, number>>;
}

interface ProposedPolicy {
  readonly policy: PolicyCreate;
  readonly permissions: readonly Permission[];
}

interface Proposal {
  readonly agent: string;
  readonly permissions: readonly Permission[];
  /** The fallback is the last one. */
  readonly policies: readonly ProposedPolicy[];
  /** Tools without a call that went through. */
  readonly refused: readonly {
    readonly toolName: string;
    readonly outcomes: Readonly<Record<string, number>>;
  }[];
}

function proposalOf(agent: string, calls: readonly Call[]): Proposal {
  const byTool = [...Map.groupBy(calls, ({ toolName }) => toolName)].sort(([a], [b]) => (a < b ? -1 : 1));
  const places = placesOf(calls);
  const permissions = byTool.flatMap(([, own]) => permissionsOf(own, places));
  const refused = byTool
    .filter(([, own]) => own.every(({ outcome }) => effects[outcome] === undefined))
    .map(([toolName, own]) => ({ toolName, outcomes: countsOf(own) }));
  const groups = Map.groupBy(permissions, ({ effect, place, toolName }) =>
    JSON.stringify([effect, place.framework, place.environment, toolName.includes('*')]),
  );
  const used = new Map<string, number>();
  // The same calls, in whatever order, give the same file.
  const sorted = [...groups].sort(([a], [b]) => (a < b ? -1 : 1));
  const policies = sorted.flatMap(([, group]) =>
    chunksOf(group).map((chunk) => ({ policy: policyOf(agent, chunk, used), permissions: chunk })),
  );
  const fallback: PolicyCreate = {
    name: `${short(agent)}: nothing else`,
    effect: 'deny',
    priority: -1000,
    match: { agents: [agent] },
    message: 'No policy allows this agent the tool. Use another tool, or ask a person to allow it.',
  };
  return { agent, permissions, policies: [...policies, { policy: fallback, permissions: [] }], refused };
}

/** Returns the permissions for one tool: one for each place, unless another one covers it. */
function permissionsOf(own: readonly Call[], places: readonly Place[]): Permission[] {
  const permitted = own.filter(({ outcome }) => effects[outcome] !== undefined);
  const others = countsOf(own.filter(({ outcome }) => effects[outcome] === undefined));
  const known = permitted.some(({ place }) => place);
  const only = places.length === 1 ? places[0] : undefined;
  // Where a call was made that nobody checked is not known.
  const located = permitted.flatMap((call) => {
    if (call.place) return [{ call, place: call.place }];
    return known ? [] : [{ call, place: only ?? {} }];
  });
  const unlocated = known ? permitted.filter(({ place }) => !place) : [];
  const found = [...Map.groupBy(located, ({ place }) => placeKey(place)).values()].map((group, index) => {
    const here = [...group.map(({ call }) => call), ...(index === 0 ? unlocated : [])];
    const isAllowed = here.some(({ outcome }) => effects[outcome] === 'allow');
    const { call, place } = group[0] as (typeof group)[number];
    return {
      toolName: call.toolName,
      effect: isAllowed ? 'allow' : 'require_approval',
      place,
      calls: here.length,
      sessions: new Set(here.map(({ sessionId }) => sessionId)),
      others,
    } satisfies Permission;
  });
  return found.filter((one) =>
    found.every(
      (other) =>
        other === one ||
        !covers(other.place, one.place) ||
        (other.effect !== one.effect && other.effect === 'allow'),
    ),
  );
}

function placesOf(calls: readonly Call[]): Place[] {
  return [
    ...new Map(calls.flatMap(({ place }) => (place ? [[placeKey(place), place] as const] : []))).values(),
  ];
}

function placeKey({ framework, environment }: Place): string {
  return JSON.stringify([framework, environment]);
}

/** `true` if a policy for one place applies in all of the other. */
function covers(wide: Place, narrow: Place): boolean {
  return (['framework', 'environment'] as const).every(
    (field) => wide[field] === undefined || wide[field] === narrow[field],
  );
}

function countsOf(calls: readonly Call[]): Record<string, number> {
  const groups = Map.groupBy(calls, ({ outcome }) => outcome);
  return Object.fromEntries([...groups].map(([outcome, { length }]) => [outcome, length]));
}

/** Splits the tools of a policy: a list has at most 100 patterns, and a condition at most 4,000 characters. */
function chunksOf(group: readonly Permission[]): Permission[][] {
  const size = group[0]?.toolName.includes('*') ? 8 : 100;
  return Array.from({ length: Math.ceil(group.length / size) }, (_, index) =>
    group.slice(index * size, (index + 1) * size),
  );
}

function policyOf(
  agent: string,
  permissions: readonly Permission[],
  used: Map<string, number>,
): PolicyCreate {
  const { effect, place } = permissions[0] as Permission;
  const tools = permissions.map(({ toolName }) => toolName);
  const places = [
    ...(place.environment === undefined ? [] : [` in ${short(place.environment)}`]),
    ...(place.framework === undefined ? [] : [` with ${short(place.framework)}`]),
  ];
  const base = `${short(agent)}: ${effect === 'allow' ? 'called tools' : 'tools that a person approves'}${places.join('')}`;
  const times = (used.get(base) ?? 0) + 1;
  used.set(base, times);
  return {
    name: times === 1 ? base : `${base} (${times})`,
    effect,
    // Policies of a person that hold these tools come first, with their approvers.
    ...(effect === 'require_approval' && { priority: -999 }),
    match: {
      agents: [agent],
      ...(place.framework !== undefined && { frameworks: [place.framework] }),
      ...(place.environment !== undefined && { environments: [place.environment] }),
      tools,
    },
    // A pattern has no escape for "*", so the name is compared, too.
    ...(tools.some((tool) => tool.includes('*')) && {
      condition: `action.toolName in [${tools.map((tool) => JSON.stringify(tool)).join(', ')}]`,
    }),
  };
}

/** Returns a text that fits into a name with others, and differs if the text does. */
function short(text: string, length = 44): string {
  if (text.length <= length) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 8);
  return `${text.slice(0, length - 10).toWellFormed()}…${hash}`;
}

interface FileFacts extends Observed {
  readonly agent: string;
  readonly since: Date;
  readonly warnings: readonly string[];
  readonly isEnforced: boolean;
}

/** Returns the file. Names are JSON strings, which are YAML, so nothing in them ends a comment or a value. */
function fileText(proposal: Proposal, facts: FileFacts): string {
  const { agent, policies, permissions, refused } = proposal;
  const { calls, since, warnings, isEnforced } = facts;
  const totals = totalsOf(calls);
  const held = new Set(permissions.flatMap((one) => (one.effect === 'allow' ? [] : one.toolName)));
  const allowed = new Set(permissions.flatMap((one) => (one.effect === 'allow' ? one.toolName : [])));
  const comments = [
    `Least privilege for the agent ${jsonText(agent)}, proposed from what it did.`,
    '',
    `Period:   ${since.toISOString()} to ${new Date().toISOString()}`,
    `Calls:    ${number(totals.calls)} in ${count(totals.sessions, 'session')}; policies checked ${number(totals.checked)}`,
    `Allows:   ${count(allowed.size, 'tool')} that it called`,
    ...(held.size > 0 ? [`Holds:    ${count(held.size, 'tool')} that it called only after an approval`] : []),
    'Denies:   every other tool',
    isEnforced
      ? 'Mode:     enforce'
      : 'Mode:     log_only, which decides nothing. Read the file, then remove the lines "mode: log_only".',
    ...(warnings.length > 0 ? ['', ...warnings] : []),
    ...(refused.length > 0
      ? [
          '',
          'Not allowed, because no call went through:',
          ...refused.map(({ toolName, outcomes }) => `  ${jsonText(toolName)}: ${countsText(outcomes)}`),
        ]
      : []),
  ];
  return [
    '# yaml-language-server: $schema=https://unpkg.com/actlog/policies.schema.json',
    ...comments.map((comment) => `# ${comment}`.trimEnd()),
    'testsAlone: true',
    '',
    'policies:',
    ...policies.flatMap((one) => [...policyLines(one, isEnforced), '']),
    'tests:',
    ...testLines(proposal),
    '',
  ].join('\n');
}

function policyLines({ policy, permissions }: ProposedPolicy, isEnforced: boolean): string[] {
  const { name, effect, priority, match, condition, message } = policy;
  const { tools: _tools, ...lists } = match ?? {};
  return [
    `  - name: ${jsonText(name)}`,
    `    effect: ${effect}`,
    ...(isEnforced ? [] : ['    mode: log_only']),
    ...(priority === undefined ? [] : [`    priority: ${priority}`]),
    '    match:',
    ...Object.entries(lists).map(([field, values]) => `      ${field}: ${jsonText(values)}`),
    ...(permissions.length > 0 ? ['      tools:'] : []),
    ...permissions.map((one) => `        - ${jsonText(one.toolName)} # ${permissionText(one)}`),
    ...(condition == null ? [] : [`    condition: ${jsonText(condition)}`]),
    ...(message == null ? [] : [`    message: ${jsonText(message)}`]),
  ];
}

function permissionText({ calls, sessions, others }: Permission): string {
  const rest = countsText(others);
  const seen =
    calls === 1 ? '1 call: SEEN ONCE' : `${number(calls)} calls in ${count(sessions.size, 'session')}`;
  const mark = calls > 1 && sessions.size === 1 ? ': SEEN IN ONE SESSION' : '';
  return `${seen}${mark}${rest === '' ? '' : `; others: ${rest}`}`;
}

function countsText(outcomes: Readonly<Record<string, number>>): string {
  return Object.entries(outcomes)
    .map(([outcome, times]) => `${number(times)} ${outcome}`)
    .join(', ');
}

function testLines({ agent, permissions, policies }: Proposal): string[] {
  const observed = new Set(permissions.map(({ toolName }) => toolName));
  const nothingElse = policies.at(-1)?.policy.name as string;
  const unseen = (name: string): string => (observed.has(name) ? unseen(`${name.slice(0, 190)}-x`) : name);
  const test = (
    name: string,
    action: Readonly<Record<string, string>>,
    decision: string,
    decidedBy: string | null,
  ) => [
    `  - name: ${jsonText(name)}`,
    `    action: { ${Object.entries(action)
      .map(([field, value]) => `${field}: ${jsonText(value)}`)
      .join(', ')} }`,
    `    decision: ${decision}`,
    `    decidedBy: ${jsonText(decidedBy)}`,
  ];
  const lines = policies.flatMap(({ policy, permissions: own }) =>
    own.flatMap(({ toolName, effect, place }) =>
      test(
        `${effect === 'allow' ? 'allows' : 'holds'} ${short(toolName, 150)}`,
        { tool: toolName, agent, ...place },
        effect,
        policy.name,
      ),
    ),
  );
  const other = unseen('a-tool-that-was-not-called');
  lines.push(...test('denies a tool that was not called', { tool: other, agent }, 'deny', nothingElse));
  for (const toolName of [...observed].filter((name) => name.includes('*'))) {
    const sibling = unseen(toolName.replaceAll('*', 'x'));
    lines.push(
      ...test(
        `denies what only looks like ${short(toolName, 150)}`,
        { tool: sibling, agent },
        'deny',
        nothingElse,
      ),
    );
  }
  const bound = permissions.find(({ toolName }) =>
    permissions.every((one) => one.toolName !== toolName || one.place.environment !== undefined),
  );
  if (bound) {
    const environments = new Set(permissions.map(({ place }) => place.environment));
    const environment = environments.has('elsewhere') ? 'elsewhere-x' : 'elsewhere';
    const action = { tool: bound.toolName, agent, ...bound.place, environment };
    lines.push(...test(`denies ${short(bound.toolName, 150)} elsewhere`, action, 'deny', nothingElse));
  }
  const stranger = agent === 'another-agent' ? 'another-agent-x' : 'another-agent';
  lines.push(...test('leaves other agents alone', { tool: other, agent: stranger }, 'allow', null));
  return lines;
}

type Change = BacktestResult['changes'][number];

/** Returns the changes that the proposal makes, or that concern the agent. */
function resultOf({ decisions, cannotTell, changes }: BacktestResult, agent: string) {
  const own = changes.filter(({ policyId, agentId }) => policyId?.startsWith('draft_') || agentId === agent);
  const countOf = (to: Change['to']) =>
    own.reduce((sum, change) => (change.to === to ? sum + change.count : sum), 0);
  return {
    decisions,
    denied: countOf('deny'),
    held: countOf('require_approval'),
    allowed: countOf('allow'),
    cannotTell,
    changes: own,
  };
}

function reportLines(result: ReturnType<typeof resultOf>, warnings: readonly string[]): string[] {
  const { decisions, denied, held, allowed, cannotTell, changes } = result;
  const table = new Table(changeColumns, terminalWidth());
  table.fit(changes);
  return [
    `Backtest, as if the file was enforced: ${count(decisions, 'decision')} of all agents.`,
    `${number(denied)} would have been denied, ${number(held)} held${allowed > 0 ? `, ${number(allowed)} allowed` : ''}.`,
    ...(cannotTell > 0 ? [`Of ${number(cannotTell)}, it cannot tell.`] : []),
    ...(changes.length > 0 ? ['', table.header(), ...changes.map((change) => table.line(change))] : []),
    ...(warnings.length > 0 ? ['', ...warnings.map(printable)] : []),
  ];
}

function number(value: number): string {
  return value.toLocaleString('en-US');
}

function count(value: number, one: string, many = `${one}s`): string {
  return `${number(value)} ${value === 1 ? one : many}`;
}
