import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  type VirtualItem,
  Virtualizer,
} from '@tanstack/virtual-core';
import type { RefObject } from 'preact';
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';

/** Rows that are rendered above and below the visible ones. */
const overscan = 12;

/** Visible part of a long list of rows. */
export interface VirtualRows {
  /** Element that scrolls. */
  readonly scroll: RefObject<HTMLDivElement | null>;
  readonly items: readonly VirtualItem[];
  /** Heights of the rows before and after the items, in pixels. */
  readonly before: number;
  readonly after: number;
  /** Callback reference of each rendered row, which has its index in `data-index`. */
  measure(element: Element | null): void;
  /** Brings a row into view. */
  scrollTo(index: number): void;
}

/**
 * Renders only the visible rows of a long list. Rows may have any height, also one that changes. The library does the
 * arithmetic alone, so it needs no adapter for Preact.
 *
 * @param keyOf - identifies a row, so that its height is kept when rows are added
 */
export function useVirtualRows(
  count: number,
  rowHeight: number,
  keyOf: (index: number) => string,
): VirtualRows {
  const scroll = useRef<HTMLDivElement>(null);
  const [, redraw] = useReducer<number, void>((drawn) => drawn + 1, 0);
  const options = {
    count,
    overscan,
    getScrollElement: () => scroll.current,
    estimateSize: () => rowHeight,
    getItemKey: keyOf,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => redraw(),
  };
  const [virtualizer] = useState(() => new Virtualizer<HTMLDivElement, Element>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  const items = virtualizer.getVirtualItems();
  return {
    scroll,
    items,
    before: items[0]?.start ?? 0,
    after: virtualizer.getTotalSize() - (items.at(-1)?.end ?? 0),
    measure: virtualizer.measureElement,
    scrollTo: (index) => virtualizer.scrollToIndex(index, { align: 'center' }),
  };
}
