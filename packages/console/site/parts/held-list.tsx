import type { PendingAction } from '@actlog/client';
import { useRef, useState } from 'preact/hooks';
import { HeldAction } from './held-action.tsx';

/** Actions that wait or waited, and the news of the last one that this person decided. */
export function HeldList({ items, onEnd }: { items: readonly PendingAction[]; onEnd: () => void }) {
  const [news, setNews] = useState('');
  const status = useRef<HTMLParagraphElement>(null);
  return (
    <>
      <p ref={status} role="status" class={news && 'news'} tabIndex={-1}>
        {news}
      </p>
      {items.map((action) => (
        <HeldAction
          key={action.id}
          action={action}
          onEnd={(told) => {
            setNews(told);
            onEnd();
          }}
          // The page must not scroll: it would bring another card under the finger.
          onLeave={() => status.current?.focus({ preventScroll: true })}
        />
      ))}
    </>
  );
}
