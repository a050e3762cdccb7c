void f() { int a = 3; }
