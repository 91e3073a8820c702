import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  observeWindowOffset,
  observeWindowRect,
  type VirtualItem,
  Virtualizer,
  windowScroll,
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
  const virtualizer = useVirtualizer<HTMLDivElement>({
    count,
    estimateSize: () => rowHeight,
    getItemKey: keyOf,
    getScrollElement: () => scroll.current,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
  });
  return {
    scroll,
    ...visibleOf(virtualizer),
    measure: virtualizer.measureElement,
    scrollTo: (index) => virtualizer.scrollToIndex(index, { align: 'center' }),
  };
}

/** Visible part of a long list of rows that scrolls with the page. */
export type PageRows = Pick<VirtualRows, 'items' | 'before' | 'after' | 'measure'>;

/**
 * Does the same for a list that scrolls with the page.
 *
 * @param top - distance of the first row from the top of the page, in pixels
 */
export function usePageRows(
  count: number,
  rowHeight: number,
  top: number,
  keyOf: (index: number) => string,
): PageRows {
  const virtualizer = useVirtualizer<Window>({
    count,
    scrollMargin: top,
    estimateSize: () => rowHeight,
    getItemKey: keyOf,
    getScrollElement: () => window,
    initialOffset: () => window.scrollY,
    observeElementRect: observeWindowRect,
    observeElementOffset: observeWindowOffset,
    scrollToFn: windowScroll,
  });
  return { ...visibleOf(virtualizer), measure: virtualizer.measureElement };
}

function visibleOf<Scroller extends Element | Window>(
  virtualizer: Virtualizer<Scroller, Element>,
): Pick<VirtualRows, 'items' | 'before' | 'after'> {
  const items = virtualizer.getVirtualItems();
  const { scrollMargin } = virtualizer.options;
  const [first, last] = [items[0], items.at(-1)];
  return {
    items,
    before: first === undefined ? 0 : first.start - scrollMargin,
    after: virtualizer.getTotalSize() - (last === undefined ? 0 : last.end - scrollMargin),
  };
}

type Options<Scroller extends Element | Window> = Omit<
  ConstructorParameters<typeof Virtualizer<Scroller, Element>>[0],
  'overscan' | 'onChange'
>;

function useVirtualizer<Scroller extends Element | Window>(
  given: Options<Scroller>,
): Virtualizer<Scroller, Element> {
  const [, redraw] = useReducer<number, void>((drawn) => drawn + 1, 0);
  const options = { ...given, overscan, onChange: () => redraw() };
  const [virtualizer] = useState(() => new Virtualizer<Scroller, Element>(options));
  virtualizer.setOptions(options);
  useLayoutEffect(() => virtualizer._didMount(), []);
  useLayoutEffect(() => virtualizer._willUpdate());
  return virtualizer;
}
