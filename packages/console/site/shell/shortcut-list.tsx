import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Shortcut } from './shortcuts.ts';

/** Dialog with the keyboard shortcuts. */
export function ShortcutList({
  shortcuts,
  onClose,
}: {
  shortcuts: readonly Shortcut[];
  onClose: () => void;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="shortcuts-title" onClose={onClose}>
      <h2 id="shortcuts-title">Keyboard shortcuts</h2>
      <dl class="shortcuts">
        {shortcuts.map(({ keys, title }) => (
          <>
            <dt key={`${title} title`}>{title}</dt>
            <dd key={title}>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dd>
          </>
        ))}
      </dl>
      <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  );
}
