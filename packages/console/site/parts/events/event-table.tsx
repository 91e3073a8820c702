import { useState } from 'preact/hooks';
import type { EventMark } from '../../events/event-marks.ts';
import type { EventRow as Row } from '../../events/event-rows.ts';
import type { VirtualRows } from '../../hooks/use-virtual-rows.ts';
import { EventRow, eventColumns } from './event-row.tsx';

/** Empty rows in place of those that are not rendered. */
function Gap({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    <tbody aria-hidden="true">
      <tr class="gap">
        <td colSpan={eventColumns} style={{ height: `${height}px` }} />
      </tr>
    </tbody>
  );
}

/** Table of events, of which only the visible ones are rendered. It scrolls by itself. */
export function EventTable({
  rows,
  virtual: { scroll, items, before, after, measure },
  unread,
  marks,
  startedAt,
}: {
  rows: readonly Row[];
  virtual: VirtualRows;
  /** Number of events that follow the rows and are not read yet. */
  unread: number;
  marks: ReadonlyMap<string, EventMark>;
  startedAt: string | undefined;
}) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (eventId: string) =>
    setOpen((ids) =>
      ids.has(eventId) ? new Set([...ids].filter((id) => id !== eventId)) : new Set([...ids, eventId]),
    );
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrollable content must be focusable
    <section class="event-scroll cards" aria-label="Events, oldest first" ref={scroll} tabIndex={0}>
      <table aria-rowcount={rows.length + unread + 1}>
        <caption class="hidden">Events, oldest first</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Tool</th>
            <th scope="col">Status</th>
            <th scope="col">Agent</th>
            <th scope="col">Why it stands out</th>
          </tr>
        </thead>
        <Gap height={before} />
        {items.map(({ index, key }) => {
          const row = rows[index];
          if (row === undefined) {
            return (
              <tbody key={key} ref={measure} data-index={index}>
                <tr>
                  <td colSpan={eventColumns} class="faint">
                    Reading…
                  </td>
                </tr>
              </tbody>
            );
          }
          const { eventId = '' } = row.event;
          return (
            <EventRow
              key={key}
              row={row}
              index={index}
              mark={marks.get(eventId)}
              startedAt={startedAt}
              isOpen={open.has(eventId)}
              onToggle={() => toggle(eventId)}
              measure={measure}
            />
          );
        })}
        <Gap height={after} />
      </table>
    </section>
  );
}
