import type { PendingAction } from '@actlog/client';
import { useContext, useRef, useState } from 'preact/hooks';
import type { Shown } from '../../hooks/use-list.ts';
import { CountWaitingContext } from '../../waiting.ts';
import { Problem } from '../problem.tsx';
import { ShowMore } from '../show-more.tsx';
import { HeldAction } from './held-action.tsx';

/** List of held actions with a status message about the last one that was decided or disappeared. */
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
          onEnd={(news) => {
            decided.current = action.id;
            setNews(news);
            shown.reload();
            countWaiting();
          }}
          onLeave={() => {
            // A message about another action would be confusing.
            if (decided.current !== action.id) {
              const gone = `${action.action?.toolName} by ${action.agentId} is no longer pending`;
              setNews(`${gone}: it was decided elsewhere or has expired.`);
            }
            // The page must not scroll, because another card would move under the pointer.
            status.current?.focus({ preventScroll: true });
          }}
        />
      ))}
      <ShowMore {...shown} />
    </>
  );
}
