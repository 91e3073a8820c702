import type { RiskEvent } from '@actlog/risk';
import type { EventRecord } from './records.ts';

/** An event as the risk engine reads it. */
export function riskEventOf({ sourceTimestamp, payload, ...event }: EventRecord): RiskEvent {
  const { toolName, argumentsHash, responseStatus } = payload;
  return {
    ...event,
    timestampMs: Date.parse(sourceTimestamp),
    payload,
    ...(typeof toolName === 'string' && { toolName }),
    ...(typeof argumentsHash === 'string' && { argumentsHash }),
    ...(typeof responseStatus === 'number' && { responseStatus }),
  };
}
