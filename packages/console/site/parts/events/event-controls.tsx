import { submitted } from '../../policy-draft.ts';
import { Field } from '../field.tsx';

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

/** Formats a time for a field of local time. */
function localTime(at: string | undefined): string | undefined {
  const moment = new Date(at ?? '');
  if (Number.isNaN(moment.getTime())) return undefined;
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
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
        const timeMs = new Date(String(fields.get('time'))).getTime();
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
      <Field label="Go to time">
        <input
          name="time"
          type="datetime-local"
          step={1}
          defaultValue={localTime(startedAt) ?? ''}
          min={localTime(startedAt)}
          max={localTime(lastEventAt)}
          required
        />
      </Field>
      <button type="submit" class="quiet">
        Go
      </button>
    </form>
  );
}
