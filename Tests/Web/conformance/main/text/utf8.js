window.utf8 = "語";
