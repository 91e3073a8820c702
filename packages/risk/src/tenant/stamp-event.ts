import { hash32, pairHash } from '../codec/byte-reader.ts';
import { type RiskEvent, type StampName, stampOf, stampsThatCount } from '../risk-event.ts';
import { nameParts, words } from '../taxonomy/tokens.ts';
import { isKnownWord, profileOf, readToolName } from '../taxonomy/tool-profile.ts';
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

// Letters of other scripts that look like Latin ones (a selection of Unicode's confusables, UTS #39).
const looksLike = new Map(
  Object.entries({
    а: 'a',
    в: 'b',
    с: 'c',
    ԁ: 'd',
    е: 'e',
    ғ: 'f',
    ɡ: 'g',
    һ: 'h',
    і: 'i',
    ј: 'j',
    к: 'k',
    ӏ: 'l',
    м: 'm',
    п: 'n',
    о: 'o',
    р: 'p',
    ԛ: 'q',
    г: 'r',
    ѕ: 's',
    т: 't',
    и: 'u',
    ѵ: 'v',
    ԝ: 'w',
    х: 'x',
    у: 'y',
    α: 'a',
    β: 'b',
    ε: 'e',
    η: 'n',
    ι: 'i',
    κ: 'k',
    ν: 'v',
    ο: 'o',
    ρ: 'p',
    τ: 't',
    υ: 'u',
    χ: 'x',
    ı: 'i',
    ƨ: 's',
    ո: 'n',
    օ: 'o',
    ս: 'u',
  }),
);
const invisible = /[\p{Cf}\p{Cc}\p{Mn}]/u;
// Vowel signs and joiners that scripts other than Latin are written with.
const writtenWithMarks = /(?!\p{Script=Latin})\p{L}[\p{Mn}\p{Mc}\u200C\u200D]+/gu;
// An emoji may consist of several characters, some of them invisible.
const picture = /\p{RGI_Emoji}/gv;
const latin = /\p{Script=Latin}/u;
const cherokee = /\p{Script=Cherokee}/u;
const plain = /^[\x20-\x7E]*$/;
// Scripts in which a letter is a small part of a word.
const oneLetterOfMany = /^[\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{N}]*$/u;
const shortestCompared = 6;
const mostEdits = 2;

/** Normalizes a name by appearance: look-alike letters become Latin, width and case are folded. */
function appearance(name: string): string {
  let folded = '';
  for (const character of name.normalize('NFKC').toLowerCase())
    folded += looksLike.get(character) ?? character;
  return folded.replace(/\p{Cf}/gu, '');
}

function looksLatin(letter: string): boolean {
  return cherokee.test(letter) || (looksLike.has(letter) && !latin.test(letter));
}

/** `true` if a name is deceptive: a word mixes scripts that look alike or contains invisible characters. */
function isDeceptive(name: string): boolean {
  if (plain.test(name)) return false;
  const written = name.normalize('NFC').replace(picture, '').replace(writtenWithMarks, '');
  if (invisible.test(written)) return true;
  return words(name).some((word) => latin.test(word) && [...word].some(looksLatin));
}

/**
 * Returns the number of edits (insert, delete, replace, swap of neighbors) between two strings; at most
 * `limit` + 1.
 */
function editsBetween(a: string, b: string, limit = mostEdits): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1;
  let older: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let edits = Math.min(
        (previous[column] as number) + 1,
        (current[column - 1] as number) + 1,
        (previous[column - 1] as number) + (same ? 0 : 1),
      );
      if (row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1]) {
        edits = Math.min(edits, (older[column - 2] as number) + 1);
      }
      current.push(edits);
      least = Math.min(least, edits);
    }
    if (least > limit) return limit + 1;
    older = previous;
    previous = current;
  }
  return previous[b.length] as number;
}

/** Removes the number at the end of a word: "db2" becomes "db", and "v2" or "2" becomes empty. */
function withoutNumber(word: string): string {
  return word.replace(/^v?\d+$|\d+$/, '');
}

/**
 * `true` if a new name is a near misspelling of a known one: "send_emial" for "send_email", but not "list_files" for
 * "list_file", in which all words are known.
 */
function resembles(name: string, known: string): boolean {
  const [mine, theirs] = [nameParts(name).base, nameParts(known).base];
  if (mine === theirs || mine.length < shortestCompared || theirs.length < shortestCompared) return false;
  const [a, b] = [words(mine), words(theirs)];
  const spelled = a.join('');
  if (spelled === b.join('')) return false;
  if (!oneLetterOfMany.test(spelled)) return false;
  const theirWords = new Set(b.map(withoutNumber));
  const strange = a.map(withoutNumber).filter((word) => word !== '' && !theirWords.has(word));
  if (strange.every(isKnownWord)) return false;
  return editsBetween(spelled, b.join('')) <= mostEdits;
}
