/** Styles that pages import for what the bundler makes of them. */
declare module '*.css';
