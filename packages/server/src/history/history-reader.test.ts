import { expect, test } from 'vitest';
import type { SearchedEvents } from '../storage/event-reader.ts';
import { merged } from './history-reader.ts';

/** Returns a page with an event at each place, whose next page starts after `end`. */
function page(places: readonly number[], end?: number): SearchedEvents {
  const positionAt = (place: number) => ({ place, eventId: `event-${place}` });
  const events = places.map((place) => ({ position: positionAt(place), size: 1, event: {} }));
  return { events, end: end === undefined ? undefined : positionAt(end) } as unknown as SearchedEvents;
}

function placesOf({ events, end }: SearchedEvents) {
  return { places: events.map(({ position }) => position.place), end: end?.place };
}

test('joins two pages in one order, each event once', () => {
  const joined = merged(page([9, 7, 5]), page([8, 7, 6]), 10);
  expect(placesOf(joined)).toEqual({ places: [9, 8, 7, 6, 5], end: undefined });
});

test('ends where the first of two pages ends, which says nothing about what follows', () => {
  expect(placesOf(merged(page([9, 7], 7), page([8, 6, 5]), 10))).toEqual({ places: [9, 8, 7], end: 7 });
  expect(placesOf(merged(page([9, 6]), page([8, 7], 7), 10))).toEqual({ places: [9, 8, 7], end: 7 });
});

test('ends after the limit, with the place of the last event', () => {
  expect(placesOf(merged(page([9, 7, 5], 5), page([8, 6]), 3))).toEqual({ places: [9, 8, 7], end: 7 });
});
