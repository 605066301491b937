module warren.test/templates

go 1.26
