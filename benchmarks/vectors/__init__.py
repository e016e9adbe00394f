"""Small bi-temporal worlds with questions and their right answers, and a runner that puts them to any system through an adapter."""
