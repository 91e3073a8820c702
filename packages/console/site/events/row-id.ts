/** Returns the element id of an event: that of its row, or of its part in the row of another event. */
export function rowId(eventId: string): string {
  return `event-${eventId}`;
}
