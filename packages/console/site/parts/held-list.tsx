import type { PendingAction } from '@actlog/client';
import { useContext, useRef, useState } from 'preact/hooks';
import type { Shown } from '../use-list.ts';
import { visibleText } from '../visible-text.ts';
import { CountWaitingContext } from '../waiting.ts';
import { HeldAction } from './held-action.tsx';
import { Problem } from './problem.tsx';
import { ShowMore } from './show-more.tsx';

/** Actions that wait or waited, and the news of the last one that this person decided or was at when it went. */
export function HeldList({ shown }: { shown: Shown<PendingAction> }) {
  const [news, setNews] = useState('');
  const countWaiting = useContext(CountWaitingContext);
  const status = useRef<HTMLParagraphElement>(null);
  const decided = useRef<string>(undefined);
  return (
    <>
      <Problem error={shown.error} />
      <p ref={status} role="status" class={news && 'news'} tabIndex={-1}>
        {news}
      </p>
      {shown.items?.map((action) => (
        <HeldAction
          key={action.id}
          action={action}
          onEnd={(told) => {
            decided.current = action.id;
            setNews(told);
            shown.reload();
            countWaiting();
          }}
          onLeave={() => {
            // News of another action would seem to be of this one.
            if (decided.current !== action.id) {
              const gone = `${action.action?.toolName} by ${action.agentId} waits no longer`;
              setNews(visibleText(`${gone}: it was decided elsewhere, or its time is over.`));
            }
            // The page must not scroll: it would bring another card under the finger.
            status.current?.focus({ preventScroll: true });
          }}
        />
      ))}
      <ShowMore {...shown} />
    </>
  );
}
