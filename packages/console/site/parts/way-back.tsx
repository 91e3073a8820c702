import ArrowLeft from 'lucide/dist/esm/icons/arrow-left.mjs';
import { useVisit } from '../hooks/visit.ts';
import { href, parseRoute } from '../route.ts';
import { Icon } from './icon.tsx';

/** Link back to the list, with its filters and scroll position if the user came from there. */
export function WayBack({ place, title }: { place: string; title: string }) {
  const { from } = useVisit();
  const [came = 'sessions', id] = parseRoute(from ?? '').path;
  const list = came === place && id === undefined ? from : undefined;
  return (
    <p class="way-back">
      <a
        href={list ?? href([place])}
        onClick={(event) => {
          const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
          if (list === undefined || !isPlain) return;
          event.preventDefault();
          history.back();
        }}
      >
        <Icon of={ArrowLeft} />
        {title}
      </a>
    </p>
  );
}
