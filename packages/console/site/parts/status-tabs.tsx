import { href } from '../route.ts';

/** Links to the same page with other statuses; the current one is marked. */
export function StatusTabs({
  place,
  statuses,
  current,
}: {
  /** Page, as in its address. */
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
