import { headers } from '@actlog/protocol';
import { useEffect, useState } from 'preact/hooks';
import { now } from '../clock.ts';
import { clockTime } from './time.tsx';

/** Times since which the history is missing in responses of the current page, by the path of the request. */
const missing = new Map<string, string>();

const changes = new EventTarget();

/** Stores whether a response may lack records because the server cannot reach its history. */
export function noteHistory(response: Response): void {
  const { pathname } = new URL(response.url || location.href, location.href);
  const since = response.headers.get(headers.historyMissingSince);
  if (since !== null) missing.set(pathname, since);
  else if (response.ok) missing.delete(pathname);
  changes.dispatchEvent(new Event('change'));
}

/** Says that the current page may lack old records, and since when, while the server cannot reach its history. */
export function HistoryNotice({ hash }: { hash: string }) {
  const [since, setSince] = useState<string>();
  useEffect(() => {
    const show = () => setSince([...missing.values()].sort()[0]);
    changes.addEventListener('change', show);
    return () => {
      changes.removeEventListener('change', show);
      // Another page sends requests of its own.
      missing.clear();
      setSince(undefined);
    };
  }, [hash]);
  if (since === undefined) return null;
  return (
    <p role="status">
      The history cannot be reached since {clockTime(new Date(since), now()).replace(/^(at|on) /, '')}. Older
      sessions and events are missing on this page.
    </p>
  );
}
