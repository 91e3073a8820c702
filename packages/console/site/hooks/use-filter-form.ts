import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Returns the reference of a form whose fields follow the address, and keep the focus.
 *
 * @param values - values by the name of the field, always with the same names
 */
export function useFilterForm(values: Readonly<Record<string, string>>): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => {
    for (const field of form.current?.querySelectorAll<HTMLInputElement>('[name]') ?? []) {
      field.value = values[field.name] ?? '';
    }
  }, Object.values(values));
  return form;
}
