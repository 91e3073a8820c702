// A classic script of its own: it runs before the first paint, so that the page never flashes in the other scheme.
import { followColorScheme } from './color-scheme.ts';

followColorScheme();
