import { useEffect, useRef } from 'preact/hooks';

/** Elements that take letters themselves. */
const takesLetters = 'input:not([type=checkbox]), select, textarea, dialog, [contenteditable]';

/**
 * Calls the handler of a pressed key while the component is shown. Keys that the user types into a field, or presses
 * together with a modifier, are ignored, and so are those of a held-down key.
 *
 * @param handlers - handlers by key; undefined for none while shortcuts are off
 */
export function useShortcuts(handlers: Readonly<Record<string, () => void>> | undefined): void {
  const latest = useRef(handlers);
  latest.current = handlers;
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const { key, target, repeat, ctrlKey, metaKey, altKey, defaultPrevented } = event;
      if (repeat || ctrlKey || metaKey || altKey || defaultPrevented) return;
      if (target instanceof Element && target.closest(takesLetters)) return;
      const handle = latest.current && Object.hasOwn(latest.current, key) ? latest.current[key] : undefined;
      if (!handle) return;
      event.preventDefault();
      handle();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}
