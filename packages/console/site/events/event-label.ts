import type { StoredEvent } from '@actlog/client';
import { now } from '../clock.ts';
import { clockTime } from '../parts/time.tsx';
import { eventIdTime } from './event-id-time.ts';
import { eventSubject } from './event-subject.ts';
import { timeSinceStart } from './since-start.ts';

/** Returns the name of an event: its tool and time; as much as its id says if it is not among the events. */
export function eventLabel(
  events: readonly StoredEvent[],
  eventId: string,
  index: number,
  startedAt: string | undefined,
): string {
  const event = events.find((each) => each.eventId === eventId);
  if (event) return `${eventSubject(event)} ${timeSinceStart(event.sourceTimestamp, startedAt)}`;
  const moment = eventIdTime(eventId);
  return moment ? `event ${clockTime(moment, now())}` : `event ${index + 1}`;
}
