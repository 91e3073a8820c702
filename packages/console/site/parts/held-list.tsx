import type { PendingAction } from '@actlog/client';
import { useRef, useState } from 'preact/hooks';
import type { Shown } from '../use-list.ts';
import { HeldAction } from './held-action.tsx';
import { Problem } from './problem.tsx';
import { ShowMore } from './show-more.tsx';

/** Actions that wait or waited, and the news of the last one that this person decided. */
export function HeldList({ shown }: { shown: Shown<PendingAction> }) {
  const [news, setNews] = useState('');
  const status = useRef<HTMLParagraphElement>(null);
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
            setNews(told);
            shown.reload();
          }}
          // The page must not scroll: it would bring another card under the finger.
          onLeave={() => status.current?.focus({ preventScroll: true })}
        />
      ))}
      <ShowMore {...shown} />
    </>
  );
}
