import { hash32, pairHash } from '../codec/byte-reader.ts';
import { type RiskEvent, type StampName, stampOf, stampsThatCount } from '../risk-event.ts';
import { nameParts, words } from '../taxonomy/tokens.ts';
import { profileOf, readToolName } from '../taxonomy/tool-profile.ts';
import { appearance, isDeceptive, resembles } from './lookalike.ts';
import {
  type KnownTool,
  type Presence,
  type Sighting,
  type TenantState,
  tenantLimits,
} from './tenant-state.ts';

const elsewhereMs = 60_000;
const spreadMs = 5 * 60_000;
const sameIntentMs = 10 * 60_000;
const aheadMs = 5 * 60_000;
const maxOtherAgents = 2;
const knownAgents = 3;
const knownTools = 5;
const stops = new Set(['deny', 'denied', 'require_approval', 'expired']);
const refused = new Set([401, 403]);
/** Minimum interval between updates of a presence, so that most events change nothing. */
const refreshMs = 10_000;

/** Data that the server has about an event when it arrives. */
export interface Arrival {
  /** Status of the event's agent at that moment. */
  readonly agentStatus: 'active' | 'revoked' | 'unregistered';
  /** Time of arrival, in Unix milliseconds. */
  readonly receivedAtMs: number;
}

/** Result of {@link stampEvent}. */
export interface Stamping {
  /** Store this number with the event, and pass it to `observe`. */
  readonly stamp: number;
  /** `true` if the tenant's state changed and must be stored again. */
  readonly changed: boolean;
}

function firstSight(tenant: TenantState, toolName: string, session: number, known: boolean): KnownTool {
  const stamps: StampName[] = [];
  if (known) {
    const looks = appearance(toolName);
    for (const other of tenant.tools.keys()) {
      if (looks === appearance(other) && toolName.toLowerCase() !== other.toLowerCase())
        stamps.push('tool_confusable');
      else if (resembles(toolName, other)) stamps.push('tool_lookalike');
      if (shadows(toolName, other)) stamps.push('tool_shadowed');
    }
  }
  return { newIn: known ? session : 0, stamps: stampOf(...new Set(stamps)) };
}

function stampTool(
  tenant: TenantState,
  toolName: string,
  session: number,
  known: boolean,
): [number, boolean] {
  const deceptive = isDeceptive(toolName) ? stampOf('tool_confusable') : 0;
  let tool = tenant.tools.get(toolName);
  const isNew = tool === undefined && tenant.tools.size < tenantLimits.tools;
  if (isNew) {
    tool = firstSight(tenant, toolName, session, known);
    tenant.tools.set(toolName, tool);
  }
  if (tool === undefined || tool.newIn !== session) return [deceptive, isNew];
  return [deceptive | tool.stamps | stampOf('tool_new_to_tenant'), isNew];
}

/**
 * `true` if an agent is active in so many sessions that another one adds no information. Times are compared with the
 * precision of presences that are not refreshed.
 */
function areEnough(presences: readonly Presence[], atMs: number): boolean {
  return (
    presences.length === tenantLimits.presences &&
    presences.every(({ lastMs }) => Math.abs(atMs - lastMs) <= refreshMs)
  );
}

function stampPresence(tenant: TenantState, agent: number, session: number, atMs: number): [number, boolean] {
  const presences = tenant.agents.get(agent) ?? [];
  const elsewhere = presences.some(
    (presence) => presence.session !== session && Math.abs(presence.lastMs - atMs) <= elsewhereMs,
  );
  const own = presences.find((presence) => presence.session === session);
  const changed = own === undefined ? !areEnough(presences, atMs) : atMs - own.lastMs > refreshMs;
  if (changed) {
    const others = presences.filter((presence) => presence !== own).slice(1 - tenantLimits.presences);
    const refreshed: Presence = { session, lastMs: Math.max(atMs, own?.lastMs ?? 0) };
    tenant.agents.delete(agent);
    tenant.agents.set(agent, [...others, refreshed]);
    if (tenant.agents.size > tenantLimits.agents)
      tenant.agents.delete(tenant.agents.keys().next().value as number);
  }
  return [elsewhere ? stampOf('agent_elsewhere') : 0, changed];
}

function otherAgents(
  sightings: readonly Sighting[],
  agent: number,
  action: number,
  atMs: number,
  withinMs: number,
) {
  const others = sightings.filter(
    (sighting) =>
      sighting.agent !== agent && sighting.action === action && Math.abs(sighting.atMs - atMs) <= withinMs,
  );
  return new Set(others.map((sighting) => sighting.agent)).size;
}

function sight(sightings: Sighting[], sighting: Sighting, limit: number): void {
  sightings.push(sighting);
  if (sightings.length > limit) sightings.shift();
}

function actionHash({ toolName, argumentsHash }: RiskEvent): number {
  return pairHash(hash32(toolName ?? ''), hash32(argumentsHash ?? ''));
}

function noteDecision(tenant: TenantState, event: RiskEvent, agent: number): boolean {
  const decision = event.payload?.decision;
  if (typeof decision !== 'string' || !stops.has(decision)) return false;
  const action = actionHash(event);
  sight(tenant.stopped, { atMs: event.timestampMs, agent, action }, tenantLimits.stopped);
  return true;
}

function stampCall(tenant: TenantState, event: RiskEvent, agent: number): [number, boolean] {
  const atMs = event.timestampMs;
  const action = actionHash(event);
  let stamp = 0;
  const status = event.responseStatus ?? 0;
  // An agent that respects a denial records the stopped call like this: it neither failed nor ran.
  if (refused.has(status) && tenant.stopped.some((stop) => stop.agent === agent && stop.action === action))
    return [0, false];
  const failed = status >= 400;
  if (failed) {
    if (otherAgents(tenant.failures, agent, 0, atMs, spreadMs) >= maxOtherAgents)
      stamp |= stampOf('failure_spread');
    sight(tenant.failures, { atMs, agent, action: 0 }, tenantLimits.failures);
  }
  const acts = profileOf(event.toolName ?? '').acts && event.argumentsHash !== undefined;
  if (acts) {
    if (otherAgents(tenant.actions, agent, action, atMs, sameIntentMs) >= maxOtherAgents)
      stamp |= stampOf('same_intent');
    sight(tenant.actions, { atMs, agent, action }, tenantLimits.actions);
  }
  return [stamp, failed || acts];
}

function stampMessage(tenant: TenantState, event: RiskEvent, agent: number): [number, boolean] {
  const { contentHash, toAgentId } = event.payload ?? {};
  let stamp = 0;
  if (
    typeof toAgentId === 'string' &&
    tenant.agents.size >= knownAgents &&
    tenant.agents.size < tenantLimits.agents &&
    !tenant.agents.has(hash32(toAgentId))
  ) {
    stamp |= stampOf('recipient_unknown');
  }
  if (typeof contentHash !== 'string') return [stamp, false];
  const content = hash32(contentHash);
  const sender = tenant.messages.get(content);
  if (sender !== undefined) return [sender === agent ? stamp : stamp | stampOf('message_replayed'), false];
  tenant.messages.set(content, agent);
  if (tenant.messages.size > tenantLimits.messages) {
    tenant.messages.delete(tenant.messages.keys().next().value as number);
  }
  return [stamp, true];
}

/**
 * Determines the stamps of an event, which need data from outside its session, and records the event in the tenant's
 * state. Call it once for each event, when it arrives, before `observe`.
 */
export function stampEvent(tenant: TenantState, event: RiskEvent, arrival: Arrival): Stamping {
  const agent = hash32(event.agentId);
  const session = hash32(event.sessionId);
  const known = tenant.sessions.size >= tenantLimits.sessions && tenant.tools.size >= knownTools;
  let stamp = known ? stampOf('tenant_known') : 0;
  let changed = false;
  const add = ([bits, change]: [number, boolean]) => {
    stamp |= bits;
    changed ||= change;
  };
  if (arrival.agentStatus === 'revoked') stamp |= stampOf('agent_revoked');
  if (arrival.agentStatus === 'unregistered') stamp |= stampOf('agent_unregistered');
  if (event.timestampMs > arrival.receivedAtMs + aheadMs) stamp |= stampOf('clock_ahead');
  if (tenant.sessions.size < tenantLimits.sessions && !tenant.sessions.has(session)) {
    tenant.sessions.add(session);
    changed = true;
  }
  if (event.category === 'guardian_decision')
    return {
      stamp: stampsThatCount(event.category, stamp),
      changed: noteDecision(tenant, event, agent) || changed,
    };
  add(stampPresence(tenant, agent, session, event.timestampMs));
  if (event.category === 'tool_api' && event.toolName !== undefined) {
    add(stampTool(tenant, event.toolName, session, known));
    add(stampCall(tenant, event, agent));
  }
  if (event.category === 'agent_message') add(stampMessage(tenant, event, agent));
  return { stamp, changed };
}

/**
 * `true` if the part before the last dot names the tool's object: "calendar.events" in
 * "calendar.events.list".
 */
function isThing(toolName: string, namespace: string): boolean {
  return toolName[namespace.length] === '.' && readToolName(namespace).noun !== undefined;
}

/**
 * `true` if a new tool has the same name as a known one but comes from another server. Single words such as "search" do
 * not count, and "drive.list_items" does not impersonate "calendar.list_items".
 */
function shadows(name: string, known: string): boolean {
  const [mine, theirs] = [nameParts(name), nameParts(known)];
  if (mine.base !== theirs.base || mine.namespace === theirs.namespace) return false;
  return words(mine.base).length > 1 && !isThing(name, mine.namespace);
}
