import { href } from '../route.ts';

/** Links to the same page with another status; the present one is marked. */
export function StatusTabs({
  place,
  statuses,
  current,
}: {
  /** The page, as in its address. */
  place: string;
  statuses: readonly string[];
  current: string;
}) {
  return (
    <nav class="tabs" aria-label="Status">
      {statuses.map((status) => (
        <a
          key={status}
          href={href([place], { status })}
          aria-current={status === current ? 'true' : undefined}
        >
          {status}
        </a>
      ))}
    </nav>
  );
}
