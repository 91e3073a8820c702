import { href } from '../route.ts';

/** Name of the product, with a link to the first page. */
export function Logo() {
  return (
    <a class="name" href={href([])}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <rect width={16} height={16} rx={3} />
        <path d="M4 8.5l2.5 2.5L12 5.5" />
      </svg>
      actlog
    </a>
  );
}
