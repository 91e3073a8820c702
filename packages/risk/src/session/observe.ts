import { hash32 } from '../codec/hash32.ts';
import type { EventContext, RiskEvent } from '../risk-event.ts';
import { stampsThatCount } from '../stamp-name.ts';
import { tagBits } from '../taxonomy/tag.ts';
import { type Activity, activityOf, type NumberedTool, toolNamed } from './activity.ts';
import { ENTRY_KINDS } from './event-log.ts';
import { count, MARK_INDEX, MARKS_WITH_ID, OUTCOME_MARKS, type Tally, UNREAD } from './mark.ts';
import { isForeign, originNote } from './origin-note.ts';
import type { SessionState } from './session-state.ts';

const NO_CONTEXT: EventContext = {};
const FIRST_OUTCOME = MARK_INDEX[OUTCOME_MARKS[0]];
const LOSS_BITS = tagBits('delete', 'payment');
const MAX_NAME_BYTES = 24;
const MAX_VERSION_LENGTH = 8;
const MAX_EVENT_ID_LENGTH = 36;

/** Truncates a name to fit the stored format, with a mark if it was cut. */
function shortName(name: string): string {
  let short = '';
  let bytes = 0;
  for (const character of name) {
    const point = character.codePointAt(0) as number;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes > MAX_NAME_BYTES - 3)
      return short.length + 3 >= name.length ? name.slice(0, MAX_NAME_BYTES) : `${short}…`;
    short += character;
  }
  return short;
}

function mark(state: SessionState, index: number, timestampMs: number, eventId: string): void {
  count(state.marks[index] as Tally, timestampMs, index < MARKS_WITH_ID ? eventId : '');
}

// A tool with decisions but no calls is kept with a count of 0, so that explanations can name it.
function countTool(state: SessionState, tool: NumberedTool, calls: number): void {
  const tally = state.tools.reach(tool.hash, () => ({
    name: shortName(tool.name),
    bits: tool.bits,
    verb: tool.verb,
    noun: tool.noun,
    count: 0,
  }));
  if (tally !== undefined) tally.count += calls;
}

function countActivity(state: SessionState, activity: Activity, at: number, id: string): void {
  const { kind, tool } = activity;
  if (kind === 'call' || kind === 'message' || kind === 'memory') {
    mark(state, MARK_INDEX[kind], at, id);
    mark(state, tool.acts ? MARK_INDEX.act : MARK_INDEX.look, at, id);
    for (let tag = 0, bits = tool.bits; bits !== 0; tag++, bits >>>= 1)
      if (bits & 1) mark(state, tag, at, id);
    countTool(state, tool, 1);
    state.calls.add(at);
    if (kind !== 'call') return;
    mark(state, FIRST_OUTCOME + activity.outcome, at, id);
    if (activity.argument !== 0) state.repeats.add(tool.hash ^ activity.argument);
    if (tool.bits & LOSS_BITS) state.losses.add(at);
    return;
  }
  countTool(state, tool, 0);
  mark(state, MARK_INDEX[kind], at, id);
  if (kind === 'approved') {
    state.approvals.add(at);
    if (activity.outcome === UNREAD) mark(state, MARK_INDEX.approved_fast, at, id);
  }
}

function countAgent(state: SessionState, event: RiskEvent, failed: boolean): void {
  const agent = state.agents.reach(hash32(event.agentId), () => ({ count: 0, failures: 0 }));
  if (agent === undefined) return;
  agent.count += 1;
  if (failed) agent.failures += 1;
}

function countVersion(state: SessionState, version: string, at: number): void {
  const short = version.slice(0, MAX_VERSION_LENGTH);
  const tally = state.versions.reach(hash32(short), () => ({ version: short, firstMs: at, lastMs: at }));
  if (tally === undefined) return;
  if (at < tally.firstMs) tally.firstMs = at;
  if (at > tally.lastMs) tally.lastMs = at;
}

function observeOrigins(state: SessionState, event: RiskEvent, context: EventContext, at: number): void {
  const note = originNote(event, context, at);
  if (note === undefined) return;
  if (isForeign(note.bits) && toolNamed(note.toolName, context.tags).acts) {
    count(state.foreignActs, at, note.callId);
  }
  state.origins.total += 1;
  if (!state.origins.keeps(at, note.eventId)) return;
  state.origins.add({ timestampMs: at, eventId: note.eventId, bits: note.bits });
}

/**
 * Adds one event to a session's state, in any order, each event once. Takes about a microsecond.
 * Times before 1970 count as 1970.
 */
export function observe(state: SessionState, event: RiskEvent, context: EventContext = NO_CONTEXT): void {
  const at = Math.max(0, Math.trunc(event.timestampMs));
  const id =
    event.eventId.length > MAX_EVENT_ID_LENGTH ? event.eventId.slice(0, MAX_EVENT_ID_LENGTH) : event.eventId;
  const stamp = stampsThatCount(event.category, context.stamp ?? 0);
  const activity = activityOf(event, context);
  if (state.session === 0) state.session = hash32(event.sessionId);
  state.eventCount += 1;
  countAgent(state, event, activity !== undefined && activity.kind === 'call' && activity.outcome !== 0);
  // The service writes decisions in its own schema version.
  if (event.category !== 'guardian_decision') countVersion(state, event.schemaVersion, at);
  for (let bit = 0, bits = stamp; bits !== 0 && bit < state.stamps.length; bit++, bits >>>= 1) {
    if (bits & 1) count(state.stamps[bit] as Tally, at, id);
  }
  if (event.category === 'llm_call') mark(state, MARK_INDEX.llm, at, id);
  if (event.category === 'agent_message' && typeof event.payload?.toAgentId === 'string') {
    state.recipients.reach(hash32(event.payload.toAgentId), () => true);
  }
  if (event.category === 'argument_origins') observeOrigins(state, event, context, at);
  if (activity === undefined) return;
  countActivity(state, activity, at, id);
  state.log.total += 1;
  if (!state.log.keeps(at, id)) return;
  state.log.add({
    timestampMs: at,
    eventId: id,
    tool: activity.tool.hash,
    argument: activity.argument,
    bits: activity.tool.bits,
    verb: activity.tool.verb,
    noun: activity.tool.noun,
    kind: ENTRY_KINDS.indexOf(activity.kind),
    outcome: activity.outcome,
    stamp,
  });
}
