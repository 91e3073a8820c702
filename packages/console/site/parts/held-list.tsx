import type { PendingAction } from '@actlog/client';
import { useState } from 'preact/hooks';
import { HeldAction } from './held-action.tsx';

/** Actions that wait or waited, and the news of the last one that this person decided. */
export function HeldList({ items, onEnd }: { items: readonly PendingAction[]; onEnd: () => void }) {
  const [news, setNews] = useState('');
  return (
    <>
      <p role="status" class={news && 'news'}>
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
        />
      ))}
    </>
  );
}
