import { toolCallCategory } from '@actlog/protocol';
import { emptySession, observe, type RiskEvent, score } from '@actlog/risk';
import type { EventRecord, SessionRecord } from './records.ts';

/** Maximum number of tool names of a session (reference profile, "Session"). */
const namedTools = 50;

/** A session: its events and its state in the risk engine. */
export class Session {
  readonly events: EventRecord[] = [];
  readonly #risk = emptySession();

  /** Agent that opened the session. */
  get agentId(): string {
    return (this.events[0] as EventRecord).agentId;
  }

  /** Adds an event with its stamp. */
  add(event: EventRecord, riskEvent: RiskEvent, stamp: number): void {
    this.events.push(event);
    observe(this.#risk, riskEvent, { stamp });
  }

  /** The session as the API returns it. */
  get record(): SessionRecord {
    const times = this.events.map(({ sourceTimestamp }) => Date.parse(sourceTimestamp)).sort((a, b) => a - b);
    const calls = this.events.filter(({ category }) => category === toolCallCategory);
    const toolNames = new Set(calls.map(({ payload }) => String(payload.toolName)));
    const { score: value, level } = score(this.#risk);
    return {
      id: (this.events[0] as EventRecord).sessionId,
      agentId: this.agentId,
      agentIds: [...new Set(this.events.map(({ agentId }) => agentId))],
      startedAt: new Date(times[0] as number).toISOString(),
      lastEventAt: new Date(times.at(-1) as number).toISOString(),
      eventCount: this.events.length,
      errorCount: calls.filter(({ payload }) => Number(payload.responseStatus) >= 400).length,
      toolNames: [...toolNames].slice(0, namedTools),
      risk: { score: value, level },
    };
  }

  /** Risk over ten dimensions, without the session's id and the time. */
  get risk(): ReturnType<typeof score> {
    return score(this.#risk);
  }
}
