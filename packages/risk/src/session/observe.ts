import { hash32 } from '../codec/byte-reader.ts';
import { type EventContext, type RiskEvent, stampsThatCount } from '../risk-event.ts';
import { nounClassNames } from '../taxonomy/nouns.ts';
import { irreversibleBits, tagBits } from '../taxonomy/tag.ts';
import { type ActKind, actKinds, reachesBeyond } from '../taxonomy/tool-profile.ts';
import { verbClasses } from '../taxonomy/verbs.ts';
import { recordAction } from './actions.ts';
import { type Activity, activityOf, type NumberedTool } from './activity.ts';
import { count, type Mark, outcomeMarks, sessionMarkIndex, type Tally, unread } from './mark.ts';
import { originNote } from './origin-note.ts';
import type { SessionState, ToolTally } from './session-state.ts';

const noContext: EventContext = {};
const firstOutcome = sessionMarkIndex[outcomeMarks[0]];
const unauthorized = outcomeMarks.indexOf('unauthorized');
const throttled = outcomeMarks.indexOf('throttled');
const maxNameBytes = 24;
const maxVersionLength = 8;
const maxEventIdLength = 36;

const untrusted = tagBits('ingest_untrusted');
const loss = tagBits('delete', 'payment');
const rights = tagBits('credential', 'admin');
const stores = tagBits('write', 'exec');
const noun = (name: (typeof nounClassNames)[number]) => nounClassNames.indexOf(name) + 1;
const verb = (name: (typeof verbClasses)[number]) => verbClasses.indexOf(name) + 1;
const [web, memory, file, code] = (['web', 'memory', 'file', 'code'] as const).map(noun);
const opening: readonly number[] = [verb('read'), verb('drive')];
const publishing: readonly number[] = [verb('publish'), verb('share')];

/** Truncates a tool's name to fit the stored format, with a mark if it was cut. */
export function shortName(name: string): string {
  let short = '';
  let bytes = 0;
  for (const character of name) {
    const point = character.codePointAt(0) as number;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes > maxNameBytes - 3)
      return short.length + 3 >= name.length ? name.slice(0, maxNameBytes) : `${short}…`;
    short += character;
  }
  return short;
}

/** Time, id and tool of an event to count. */
interface Place {
  readonly at: number;
  readonly id: string;
  readonly tool: number;
}

function mark(state: SessionState, name: Mark, { at, id, tool }: Place): void {
  count(state.marks[sessionMarkIndex[name]] as Tally, at, id, tool);
}

function markIndex(state: SessionState, index: number, { at, id, tool }: Place): void {
  count(state.marks[index] as Tally, at, id, tool);
}

// A tool with decisions but no calls is kept with a count of 0, so that explanations can name it.
function toolTally(state: SessionState, tool: NumberedTool): ToolTally | undefined {
  const tools = tool.acts ? state.acting : state.looking;
  return tools.reach(tool.hash, () => ({
    name: shortName(tool.name),
    bits: tool.bits,
    verb: tool.verb,
    noun: tool.noun,
    count: 0,
    firstSuccessMs: 0,
    lastSuccessMs: 0,
    firstRefusedMs: 0,
    lastFailedMs: 0,
  }));
}

function countOutcome(tally: ToolTally, outcome: number, at: number): void {
  const earliest = (known: number) => (known === 0 ? at : Math.min(known, at));
  if (outcome === 0) {
    tally.firstSuccessMs = earliest(tally.firstSuccessMs);
    tally.lastSuccessMs = Math.max(tally.lastSuccessMs, at);
    return;
  }
  if (outcome === unauthorized) tally.firstRefusedMs = earliest(tally.firstRefusedMs);
  tally.lastFailedMs = Math.max(tally.lastFailedMs, at);
}

function countRead(state: SessionState, tool: NumberedTool, hasFailed: boolean, place: Place): void {
  mark(state, 'look', place);
  if (hasFailed) {
    mark(state, 'failed_look', place);
    return;
  }
  countTags(state, tool.bits, place);
  if (tool.isOutside) mark(state, 'outside', place);
  if (tool.noun === web && opening.includes(tool.verb)) mark(state, 'opened_web', place);
  if (tool.noun === memory) mark(state, 'read_memory', place);
  if (tool.bits & untrusted) state.readKinds.add(tool.noun, place.at, place.id, place.tool);
}

function countTags(state: SessionState, tags: number, place: Place): void {
  for (let tag = 0, bits = tags; bits !== 0; tag++, bits >>>= 1) if (bits & 1) markIndex(state, tag, place);
}

function countAct(state: SessionState, tool: NumberedTool, place: Place): void {
  const { bits, actKind } = tool;
  mark(state, 'act', place);
  countTags(state, bits, place);
  if (bits & loss) {
    mark(state, 'loss', place);
    state.losses.add(place.at);
  }
  if (bits & stores && (tool.noun === file || tool.noun === code)) mark(state, 'stored', place);
  if (tool.noun === web && opening.includes(tool.verb)) mark(state, 'opened_web', place);
  if (bits & rights) mark(state, 'rights', place);
  if (bits & irreversibleBits && actKind !== 'execution') mark(state, 'final', place);
  if (publishing.includes(tool.verb)) mark(state, 'opened_up', place);
  if (!reachesBeyond(actKind)) return;
  mark(state, 'reach', place);
  if (actKind === 'outgoing') mark(state, 'outgoing', place);
  state.reachedNouns |= 1 << tool.noun;
  state.reachedVerbs |= 1 << tool.verb;
  state.reachedKinds.add(tool.noun, place.at, place.id, place.tool);
}

const ranks = Object.fromEntries(actKinds.map((kind, rank) => [kind, rank])) as Record<ActKind, number>;

function countActivity(state: SessionState, activity: Activity, at: number, id: string): void {
  const { kind, tool, outcome, argument } = activity;
  const place: Place = { at, id, tool: tool.hash };
  const isRejected = outcome === unauthorized;
  const tally = toolTally(state, tool);
  if (argument !== 0) {
    const hash = (tool.hash ^ argument) >>> 0;
    const record = state.actions.reach(ranks[tool.actKind], hash, tool.hash, tool.bits);
    if (record !== undefined) recordAction(record, kind, outcome === throttled, isRejected, at, id);
  }
  if (kind === 'call' || kind === 'message' || kind === 'memory') {
    mark(state, kind, place);
    if (kind === 'call') {
      markIndex(state, firstOutcome + outcome, place);
      if (tally !== undefined) countOutcome(tally, outcome, at);
    }
    if (isRejected) return;
    if (tally !== undefined) tally.count += 1;
    if (tool.acts) countAct(state, tool, place);
    else countRead(state, tool, outcome !== 0 && outcomeMarks[outcome] !== 'unanswered', place);
    return;
  }
  mark(state, kind, place);
  if (kind === 'approved') {
    state.approvals.add(at);
    if (outcome === unread) mark(state, 'approved_fast', place);
  }
}

function countAgent(state: SessionState, event: RiskEvent, failed: boolean): void {
  const agent = state.agents.reach(hash32(event.agentId), () => ({ count: 0, failures: 0 }));
  if (agent === undefined) return;
  agent.count += 1;
  if (failed) agent.failures += 1;
}

function countVersion(state: SessionState, version: string, at: number): void {
  const short = version.slice(0, maxVersionLength);
  const tally = state.versions.reach(hash32(short), () => ({ version: short, firstMs: at, lastMs: at }));
  if (tally === undefined) return;
  if (at < tally.firstMs) tally.firstMs = at;
  if (at > tally.lastMs) tally.lastMs = at;
}

function observeOrigins(state: SessionState, event: RiskEvent, context: EventContext, at: number): void {
  const note = originNote(event, context);
  if (note === undefined) return;
  const place: Place = { at, id: note.callId, tool: note.tool.hash };
  mark(state, 'origins', place);
  for (const name of note.marks) mark(state, name, place);
  // Explanations name the tool of an action that only its arguments show.
  if (note.marks.length > 0) toolTally(state, note.tool);
}

/**
 * Adds one event to a session's state, in any order, each event once. Takes about a microsecond.
 * Times before 1970 count as the first millisecond of 1970.
 */
export function observe(state: SessionState, event: RiskEvent, context: EventContext = noContext): void {
  // Stored times use 0 for no time.
  const at = Math.max(1, Math.trunc(event.timestampMs));
  const id =
    event.eventId.length > maxEventIdLength ? event.eventId.slice(0, maxEventIdLength) : event.eventId;
  const stamp = stampsThatCount(event.category, context.stamp ?? 0);
  const activity = activityOf(event, context);
  if (state.session === 0) state.session = hash32(event.sessionId);
  state.eventCount += 1;
  countAgent(state, event, activity !== undefined && activity.kind === 'call' && activity.outcome !== 0);
  // The service writes decisions with another schema version.
  if (event.category !== 'guardian_decision') countVersion(state, event.schemaVersion, at);
  const tool = activity?.tool.hash ?? 0;
  for (let bit = 0, bits = stamp; bits !== 0 && bit < state.stamps.length; bit++, bits >>>= 1) {
    if (bits & 1) count(state.stamps[bit] as Tally, at, id, tool);
  }
  if (event.category === 'llm_call') mark(state, 'llm', { at, id, tool: 0 });
  if (event.category === 'agent_message' && typeof event.payload?.toAgentId === 'string') {
    state.recipients.reach(hash32(event.payload.toAgentId), () => true);
  }
  if (event.category === 'argument_origins') observeOrigins(state, event, context, at);
  if (activity !== undefined) countActivity(state, activity, at, id);
}
