import type { IconNode } from 'lucide';
import Monitor from 'lucide/dist/esm/icons/monitor.mjs';
import Moon from 'lucide/dist/esm/icons/moon.mjs';
import Sun from 'lucide/dist/esm/icons/sun.mjs';
import { useEffect, useId, useState } from 'preact/hooks';
import {
  type ColorScheme,
  chooseColorScheme,
  colorSchemes,
  keptColorScheme,
  onColorChange,
} from '../color-scheme.ts';
import { Icon } from '../parts/icon.tsx';

const choices: Readonly<Record<ColorScheme, { readonly title: string; readonly icon: IconNode }>> = {
  system: { title: 'Same as the system', icon: Monitor },
  light: { title: 'Light', icon: Sun },
  dark: { title: 'Dark', icon: Moon },
};

/** Choice of the color scheme: radio buttons that look like one control. */
export function ColorSchemeChoice() {
  const [chosen, setChosen] = useState(keptColorScheme);
  const name = useId();
  useEffect(() => {
    const shown = new AbortController();
    onColorChange(() => setChosen(keptColorScheme()), shown.signal);
    return () => shown.abort();
  }, []);
  return (
    <div class="color-scheme" role="radiogroup" aria-label="Color scheme">
      {colorSchemes.map((scheme) => {
        const { title, icon } = choices[scheme];
        return (
          <label key={scheme} title={title}>
            <input
              class="hidden"
              type="radio"
              name={name}
              checked={scheme === chosen}
              onChange={() => {
                chooseColorScheme(scheme);
                // Also where the browser blocks storage.
                setChosen(scheme);
              }}
            />
            <Icon of={icon} />
            <span class="hidden">{title}</span>
          </label>
        );
      })}
    </div>
  );
}
