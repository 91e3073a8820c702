import Menu from 'lucide/dist/esm/icons/menu.mjs';
import Search from 'lucide/dist/esm/icons/search.mjs';
import { Icon } from '../parts/icon.tsx';
import { href } from '../route.ts';
import { Logo } from './logo.tsx';
import { sidebarId, WaitingCount } from './sidebar.tsx';

/** Bar above the page on a narrow screen, with the button that opens the menu. */
export function TopBar({ waiting, onSearch }: { waiting: string; onSearch: () => void }) {
  return (
    <nav class="top-bar" aria-label="Menu">
      <button type="button" class="quiet icon-only" popovertarget={sidebarId} aria-label="Menu">
        <Icon of={Menu} />
      </button>
      <Logo />
      {waiting !== '' && (
        <a href={href(['approvals'])}>
          <WaitingCount waiting={waiting} />
        </a>
      )}
      <button type="button" class="quiet icon-only" aria-label="Search" onClick={onSearch}>
        <Icon of={Search} />
      </button>
    </nav>
  );
}
