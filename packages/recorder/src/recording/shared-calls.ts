import { noHash } from '@actlog/tool-call';
import { createEventId } from '../events/event.ts';
import type { AnnouncedCall, RecordedOutcome } from '../events/tool-call.ts';
import { type ActiveCall, recordingView } from './active-call.ts';
import type { CallAnnouncements } from './call-announcements.ts';

/**
 * Calls that two sides of a connection see, for example an MCP client and a server in another process, so that both
 * record one event and check one action. Sides belong together if they have the same `hashKey` or, without one, the same
 * API key.
 */
export class SharedCalls {
  readonly #announcements: CallAnnouncements;
  readonly #current: () => ActiveCall | undefined;

  /** @param current - returns the innermost running call of the recorder */
  constructor(announcements: CallAnnouncements, current: () => ActiveCall | undefined) {
    this.#announcements = announcements;
    this.#current = current;
  }

  /**
   * Returns a sealed announcement of the innermost running call of the recorder, for {@link SharedCalls.open} of the
   * other side. Undefined if no call runs.
   *
   * @param actionId - id of the action for the other side's check if nothing was checked on this side
   */
  announce(actionId?: string): string | undefined {
    const active = this.#current();
    if (!active || active.argumentsHash === noHash) return undefined;
    const recording = recordingView(active);
    const nowMs = Date.now();
    recording.event ??= { eventId: recording.checkedAs ?? createEventId(nowMs), announcedBy: active };
    const { agentId, sessionId, subagent, parentAgentIds } = recording;
    const { toolName, argumentsHash, trace } = active;
    return this.#announcements.seal({
      eventId: recording.event.eventId,
      atMs: nowMs,
      agentId,
      sessionId,
      toolName,
      argumentsHash,
      ...(subagent !== undefined && { subagent }),
      ...(parentAgentIds.length > 0 && { parentAgentIds }),
      ...(active.changedFrom !== undefined && { changedFrom: active.changedFrom }),
      actionId: active.actionId ?? actionId,
      origins: trace?.origins,
    });
  }

  /**
   * Takes back the announcement of the innermost running call, because the other side has responded and did not record
   * it: the event then gets its id when the call ends, as without an announcement.
   */
  withdraw(): void {
    const active = this.#current();
    if (!active) return;
    const recording = recordingView(active);
    if (recording.event?.announcedBy === active) recording.event = undefined;
  }

  /**
   * Returns the call of an announcement, for `ToolCall.announced`. Undefined if it comes from elsewhere, is older than
   * five minutes, or was opened in this process before.
   */
  open(sealed: unknown): AnnouncedCall | undefined {
    return this.#announcements.open(sealed);
  }

  /** Allows an announcement to be opened once more, because the call continues in another request. */
  reopen(call: AnnouncedCall): void {
    this.#announcements.reopen(call);
  }

  /** Seals what was recorded of an announced call, for {@link SharedCalls.openOutcome} of the other side. */
  sealOutcome(call: AnnouncedCall, outcome: RecordedOutcome): string {
    return this.#announcements.sealOutcome(call, outcome);
  }

  /**
   * Returns the status that the other side recorded for the innermost running call, and uses its time for the event, so
   * that both sides record the same. Undefined if the outcome belongs to another call.
   */
  openOutcome(sealed: unknown): number | undefined {
    const active = this.#current();
    const event = active && recordingView(active).event;
    const outcome = event && this.#announcements.openOutcome(sealed, event.eventId);
    if (event && outcome) event.recordedAtMs = outcome.atMs;
    return outcome?.responseStatus;
  }
}
