import { timeZone, zoneName } from '../../clock.ts';
import { Field, submitted } from '../field.tsx';

/** Which events are shown. */
export type EventSelection = 'all' | 'marked' | 'error' | 'denied' | 'held' | 'risk';

const selections: Readonly<Record<EventSelection, string>> = {
  all: 'all events',
  marked: 'events that stand out',
  error: 'errors only',
  denied: 'denials only',
  held: 'held actions only',
  risk: 'risky events only',
};

/** Returns the selection with a name in the address; all events for an unknown one. */
export function selectionOf(name: string | null): EventSelection {
  return name !== null && Object.hasOwn(selections, name) ? (name as EventSelection) : 'all';
}

/** Formats a time for the field: "2026-11-20 09:00:15", in the zone of the page. */
function fieldTime(at: string | undefined): string {
  const moment = new Date(at ?? '');
  if (Number.isNaN(moment.getTime())) return '';
  const offset = timeZone === 'UTC' ? 0 : moment.getTimezoneOffset();
  const local = new Date(moment.getTime() - offset * 60_000);
  return local.toISOString().slice(0, 19).replace('T', ' ');
}

/** Returns the time of the field in Unix milliseconds; NaN if it is none. */
function timeOf(text: string): number {
  return Date.parse(`${text.trim().replace(' ', 'T')}${timeZone === 'UTC' ? 'Z' : ''}`);
}

/** Controls of the events: which ones are shown, and a jump to a time. */
export function EventControls({
  selection,
  onSelect,
  startedAt,
  lastEventAt,
  onJump,
}: {
  selection: EventSelection;
  onSelect: (selection: EventSelection) => void;
  startedAt: string | undefined;
  lastEventAt: string | undefined;
  /** Called with the time to jump to, in Unix milliseconds. */
  onJump: (timeMs: number) => void;
}) {
  return (
    <form
      class="filters event-controls"
      onSubmit={submitted((fields) => {
        const timeMs = timeOf(String(fields.get('time')));
        if (!Number.isNaN(timeMs)) onJump(timeMs);
      })}
    >
      <Field label="Show">
        <select
          name="show"
          value={selection}
          onChange={({ currentTarget }) => onSelect(currentTarget.value as EventSelection)}
        >
          {Object.entries(selections).map(([value, words]) => (
            <option key={value} value={value}>
              {words}
            </option>
          ))}
        </select>
      </Field>
      <Field label={`Go to time (${zoneName(new Date(startedAt ?? Date.now()))})`}>
        <input
          name="time"
          pattern="\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?"
          title={`A time such as ${fieldTime(startedAt)}, until ${fieldTime(lastEventAt)}`}
          defaultValue={fieldTime(startedAt)}
          autocomplete="off"
          required
        />
      </Field>
      <button type="submit" class="quiet">
        Go
      </button>
    </form>
  );
}
