import { render } from 'preact';
import { App } from './app.tsx';
import { showHiddenCharacters } from './visible-text.ts';

showHiddenCharacters();
render(<App />, document.getElementById('root') as HTMLElement);
