import { useState } from 'preact/hooks';
import { countTexts, originsSummary } from '../../argument-origins.ts';
import type { CallOrigins } from '../../events/event-rows.ts';
import { rowId } from '../../events/row-id.ts';
import { OriginList } from './origin-list.tsx';

/** Summary of the origins of a call's arguments, which the user opens to see them. */
export function EventOrigins({
  origins: { eventId, callId, origins },
  isApart,
}: {
  origins: CallOrigins;
  /** `true` if they have a row of their own, not that of the call. */
  isApart: boolean;
}) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <>
      {isApart && (
        <p class="about faint">
          About the call with the event id <code>{callId}</code>.
        </p>
      )}
      {/* The event has no row of its own, but reasons can name it. */}
      <details
        id={isApart ? undefined : rowId(eventId)}
        onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}
      >
        <summary>
          {countTexts(origins) > 0 ? (
            <span class="badge warn">{originsSummary(origins)}</span>
          ) : (
            originsSummary(origins)
          )}
        </summary>
        {/* A page of events may have thousands. */}
        {isOpen && <OriginList origins={origins} />}
      </details>
    </>
  );
}
